// Draws the graphs of a run: node bench/graphs.mjs RUN.json DIRECTORY
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import * as vega from 'vega';
import { compile } from 'vega-lite';

const [run, directory] = process.argv.slice(2);
const results = JSON.parse(readFileSync(run, 'utf8'));

const servers = ['monotable', 'dynoxide', 'dynalite', 'dynamodb-local', 'echo'];
const colors = ['#0b5cad', '#c2410c', '#4d7c0f', '#7e22ce', '#8a8f98'];
const names = { echo: 'bare net/http echo' };

const graphs = {
  connections: { points: results.by_connections, x: ['connections', 'connections', 2], y: ['ops_per_second', 'requests a second'] },
  load: { points: results.by_load, x: ['due_per_second', 'requests due a second', 10], y: ['p99_ms', 'p99, ms'] },
  size: { points: results.by_size, x: ['items', 'items', 10], y: ['server_cpu_us_per_op', 'µs of processor time'] },
};

// The format ~s alone writes 0.1 as 100m.
const axisLabel = "format(datum.value, datum.value < 1 ? '~r' : '~s')";
const decades = [0.01, 0.1, 1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7];

function specification({ points, x: [x, xTitle, base], y: [y, yTitle] }) {
  const present = servers.filter((server) => points.some((p) => p.server === server));
  return {
    data: { values: points.filter((p) => p[y] > 0).map((p) => ({ ...p, server: names[p.server] ?? p.server })) },
    facet: { column: { field: 'workload', type: 'nominal', title: null, sort: null, header: { labelFontSize: 13, labelFontWeight: 'bold' } } },
    spec: {
      width: 230,
      height: 220,
      mark: { type: 'line', point: { size: 22 }, strokeWidth: 1.8 },
      encoding: {
        x: { field: x, type: 'quantitative', title: xTitle, scale: { type: 'log', base, nice: false }, axis: { format: '~s', values: base === 2 ? [1, 4, 16, 64, 256] : decades } },
        y: { field: y, type: 'quantitative', title: yTitle, scale: { type: 'log' }, axis: { labelExpr: axisLabel, values: decades } },
        color: { field: 'server', type: 'nominal', title: null, sort: null, scale: { domain: present.map((s) => names[s] ?? s), range: present.map((s) => colors[servers.indexOf(s)]) }, legend: { orient: 'bottom', direction: 'horizontal', labelFontSize: 12, labelLimit: 0, symbolType: 'stroke', symbolStrokeWidth: 3 } },
      },
    },
    config: {
      aria: false,
      background: 'white',
      font: 'system-ui, sans-serif',
      view: { stroke: null },
      axis: { gridColor: '#eceef1', domainColor: '#9aa1ab', tickColor: '#9aa1ab', labelColor: '#3a404a', titleColor: '#3a404a', titleFontWeight: 'normal' },
    },
  };
}

mkdirSync(directory, { recursive: true });
for (const [name, graph] of Object.entries(graphs)) {
  if (!graph.points) continue;
  const view = new vega.View(vega.parse(compile(specification(graph)).spec), { renderer: 'none' });
  writeFileSync(`${directory}/${name}.svg`, (await view.toSVG()) + '\n');
}
