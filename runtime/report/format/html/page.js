// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all pages have in common: the choice of colours, lists of facts, and the text in place of
// pictures that cannot be drawn.

// page.html#light and page.html#dark have the effect of the buttons.
function themeButtons() {
  const preference = matchMedia("(prefers-color-scheme: dark)");
  const names = ["auto", "light", "dark"];
  let chosen = names.find((name) => location.hash === `#${name}`) ?? "auto";
  const buttons = names.map((name) => html("button", {type: "button"}, name));
  const show = () => {
    document.documentElement.dataset.theme = chosen === "auto" ? (preference.matches ? "dark" : "light") : chosen;
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(names[i] === chosen)));
  };
  buttons.forEach((button, i) => button.addEventListener("click", () => {
    chosen = names[i];
    show();
  }));
  preference.addEventListener("change", show);
  show();
  return html("div", {class: "buttons", role: "group", "aria-label": "colours"}, ...buttons);
}

// Pairs of a name and what it is.
const factsList = (facts) => html("dl", {class: "facts"}, ...facts.flatMap(([name, value]) => [html("dt", {}, name), html("dd", {}, value)]));

// Shows the elements that draw(data) returns. If a picture fails, now or when it is opened, the text
// below is opened and a warning is shown.
function drawPage(draw) {
  const pictures = document.getElementById("pictures");
  addEventListener("error", (event) => {
    document.getElementById("text").open = true;
    pictures.append(html("p", {class: "warning error"}, `A picture could not be drawn (${event.message}). The text below has all figures.`));
  });
  document.querySelector("header").append(themeButtons());
  const show = () => pictures.replaceChildren(...draw(JSON.parse(document.getElementById("data").textContent)));
  NARROW.addEventListener("change", show);
  show();
  document.getElementById("text").open = false;
}
