// A line chart of values over time. uPlot is loaded with the first chart; a text alternative is next to it.
import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "preact/hooks";
import type UPlot from "uplot";
import { format, theme } from "#ui";
import type { Series } from "./metrics.ts";
import { t } from "./words.ts";

const height = 180;

/** A colour of the page in the canvas's form. */
function colour(name: string): string {
  return `var(${name})`;
}

/** A chart of values, which show formats. Its scale goes up to at least `least`, so that tiny values look tiny. */
export function Chart({ title, times, series, show, least = 0 }: { title: string; times: readonly number[]; series: readonly Series[]; show: (v: number) => string; least?: number }) {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<UPlot | undefined>(undefined);
  const mode = theme.value;
  const names = series.map((s) => s.name).join();
  useEffect(() => {
    let gone = false;
    const element = place.current;
    const watch = new ResizeObserver(() => drawn.current?.setSize({ width: element?.clientWidth ?? 0, height }));
    void import("uplot").then(({ default: Plot }) => {
      if (gone || !element) return;
      drawn.current = new Plot(optionsOf(element, series, show, least), dataOf(times, series), element);
      watch.observe(element);
    });
    return () => {
      gone = true;
      watch.disconnect();
      drawn.current?.destroy();
      drawn.current = undefined;
    };
  }, [names, mode]);
  useEffect(() => drawn.current?.setData(dataOf(times, series)), [times, series]);
  const said = series.map((s) => `${s.name} ${show(latest(s))}`).join(", ");
  return (
    <figure class="chart card">
      <figcaption class="row"><h2 class="grow">{title}</h2></figcaption>
      {series.length === 0 ? <p class="muted small chart-none">{t("metrics.nothing")}</p> : (
        <>
          <div ref={place} role="img" aria-label={`${title}: ${said}`} class="chart-place" />
          <ul class="row chart-legend">{series.map((s, n) => <li key={s.name}><span class="chart-line" aria-hidden="true" style={{ "--kind": colour(`--kind-${n + 1}`) }} />{s.name}<span class="muted number">{show(latest(s))}</span></li>)}</ul>
        </>
      )}
    </figure>
  );
}

/** The value of the last complete period. */
function latest(s: Series): number {
  return s.values[s.values.length - 2] ?? s.values[s.values.length - 1] ?? 0;
}

function dataOf(times: readonly number[], series: readonly Series[]): UPlot.AlignedData {
  return [[...times], ...series.map((s) => [...s.values])] as UPlot.AlignedData;
}

function optionsOf(element: HTMLElement, series: readonly Series[], show: (v: number) => string, least: number): UPlot.Options {
  const probe = document.createElement("span");
  element.append(probe);
  const resolved = (name: string) => { probe.style.color = colour(name); return getComputedStyle(probe).color; };
  const grid = { stroke: resolved("--border"), width: 1 };
  const axis = { stroke: resolved("--text-muted"), grid, ticks: { show: false }, font: `11px ${getComputedStyle(element).fontFamily}` };
  const lines = series.map((s, n) => ({ label: s.name, stroke: resolved(`--kind-${n + 1}`), width: 1.5, points: { show: s.values.includes(null), size: 5, fill: resolved(`--kind-${n + 1}`) } }));
  probe.remove();
  return {
    width: element.clientWidth, height, padding: [8, 12, 0, 0], legend: { show: false }, cursor: { y: false, points: { size: 6 } },
    scales: { y: { range: (_, __, max) => [0, Math.max(least, max > 0 ? max * 1.1 : 1)] } },
    axes: [
      // step is the time between two labels in seconds.
      { ...axis, space: 80, size: 28, values: (_, at, __, ___, step) => at.map((v) => format.dateTime(v * 1000, { timeStyle: step < 60 ? "medium" : "short" })) },
      { ...axis, size: 56, values: (_, at) => at.map((v) => show(v)) },
    ],
    series: [{}, ...lines],
  };
}
