// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/model/command/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace hierbar::bench::model {
namespace {

constexpr double kWidth = 1080;
constexpr double kHeight = 630;
constexpr double kLeft = 100;
constexpr double kRight = 250;  // room for the legend
constexpr double kTop = 70;
constexpr double kBottomOfLines = 60;
constexpr double kBottomOfBars = 220;  // the ticks' names are nearly upright
// Okabe and Ito's colours, which colour-blind people can distinguish; then browns and greys.
constexpr std::array kColours = {"#d55e00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9",
                                 "#e69f00", "#000000", "#8c6d31", "#7f7f7f", "#bcbd22"};

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

class Drawing {
 public:
  explicit Drawing(const Chart& chart) : chart_(chart) {
    double least = 1e300;
    double most = 0;
    for (const Series& series : chart.series) {
      for (const std::optional<double>& value : series.values) {
        if (!value || *value <= 0) continue;
        least = std::min(least, *value);
        most = std::max(most, *value);
      }
    }
    if (most == 0) least = most = 1;
    // Bars start below the least value, and the scale ends a little above the largest.
    low_ = std::log10(least) - (chart.lines ? 0.05 : 0.3);
    high_ = std::log10(most) + 0.08;
  }

  std::string draw() {
    svg_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
        "font-family=\"sans-serif\" "
        "font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        kWidth, kHeight);
    text(kLeft, 28, chart_.title, "start", 17);
    text(kLeft, 50, chart_.subtitle, "start", 12);
    draw_scale();
    draw_ticks();
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      chart_.lines ? draw_line(i) : draw_bars(i);
      draw_legend(i);
    }
    return svg_ + "</svg>\n";
  }

 private:
  double y(double value) const { return kTop + (high_ - std::log10(value)) / (high_ - low_) * (kHeight - kTop - bottom_); }
  double group_width() const {
    return (kWidth - kLeft - kRight) / static_cast<double>(std::max<std::size_t>(1, chart_.ticks.size()));
  }
  double middle(std::size_t tick) const { return kLeft + (static_cast<double>(tick) + 0.5) * group_width(); }
  static const char* colour(std::size_t i) { return kColours[i % kColours.size()]; }

  void text(double x, double at, const std::string& words, const char* anchor, int size, double turn = 0) {
    svg_ += fmt::format("<text x=\"{0:.1f}\" y=\"{1:.1f}\" text-anchor=\"{2}\" font-size=\"{3}\"{4}>{5}</text>\n", x, at, anchor,
                        size, turn == 0 ? "" : fmt::format(" transform=\"rotate({:.0f} {:.1f} {:.1f})\"", turn, x, at),
                        escaped(words));
  }

  void draw_scale() {
    for (int power = static_cast<int>(std::floor(low_)); power <= static_cast<int>(std::ceil(high_)); ++power) {
      for (const double digit : {1.0, 2.0, 5.0}) {
        const double value = digit * std::pow(10.0, power);
        if (std::log10(value) < low_ || std::log10(value) > high_) continue;
        svg_ += fmt::format("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#ddd\"/>\n", kLeft,
                            kWidth - kRight, y(value));
        text(kLeft - 8, y(value) + 4, fmt::format("{:g}", value), "end", 12);
      }
    }
    text(22, kTop + (kHeight - kTop - bottom_) / 2, chart_.unit, "middle", 13, -90);
  }

  void draw_ticks() {
    for (std::size_t tick = 0; tick < chart_.ticks.size(); ++tick) {
      if (chart_.lines) {
        text(middle(tick), kHeight - bottom_ + 22, chart_.ticks[tick], "middle", 12);
      } else {
        text(middle(tick) + 6, kHeight - bottom_ + 16, chart_.ticks[tick], "end", 12, -60);
      }
    }
  }

  void draw_bars(std::size_t i) {
    const double width = group_width() * 0.8 / static_cast<double>(chart_.series.size());
    for (std::size_t tick = 0; tick < chart_.series[i].values.size(); ++tick) {
      const std::optional<double>& value = chart_.series[i].values[tick];
      if (!value || *value <= 0) continue;
      svg_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
                          middle(tick) + width * (static_cast<double>(i) - static_cast<double>(chart_.series.size()) / 2),
                          y(*value), width, kHeight - bottom_ - y(*value), colour(i));
    }
  }

  void draw_line(std::size_t i) {
    std::string points;
    for (std::size_t tick = 0; tick < chart_.series[i].values.size(); ++tick) {
      const std::optional<double>& value = chart_.series[i].values[tick];
      if (!value || *value <= 0) continue;
      points += fmt::format("{:.1f},{:.1f} ", middle(tick), y(*value));
      svg_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n", middle(tick), y(*value), colour(i));
    }
    svg_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>\n", points, colour(i),
                        i == 0 ? 3.5 : 1.8);
  }

  void draw_legend(std::size_t i) {
    const double at = kTop + 10 + 22 * static_cast<double>(i);
    svg_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"10\" fill=\"{}\"/>\n", kWidth - kRight + 16,
                        at - 9, colour(i));
    text(kWidth - kRight + 36, at, chart_.series[i].name, "start", 12);
  }

  const Chart& chart_;
  const double bottom_ = chart_.lines ? kBottomOfLines : kBottomOfBars;
  double low_ = 0;
  double high_ = 1;
  std::string svg_;
};

}  // namespace

std::string to_svg(const Chart& chart) { return Drawing(chart).draw(); }

}  // namespace hierbar::bench::model
