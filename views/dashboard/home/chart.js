// Draws the table of a chart: bars of requests with the errors on top. Without this script the table itself is shown.
{
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => () => style.getPropertyValue(name).trim();
  const font = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
  const charts = new Map();

  /** Values and labels by bar, from the rows of the table. */
  function read(place) {
    const rows = [...document.querySelectorAll(`${place.dataset.source} tbody tr`)];
    const answered = rows.map(({ dataset }) => Number(dataset.answered));
    const errors = rows.map(({ dataset }) => Number(dataset.errors));
    const whole = answered.map((count, index) => count + errors[index]);
    return {
      labels: rows.map((row) => row.querySelector('time').textContent),
      // The larger series is drawn first, the smaller one over it.
      data: [rows.map((_, index) => index), whole, answered],
      heads: [...document.querySelectorAll(`${place.dataset.source} thead th`)].map((head) => head.textContent),
      cells: rows.map((row) => [...row.cells].map((cell) => cell.textContent)),
    };
  }

  function draw(place) {
    const shown = read(place);
    const known = charts.get(place);
    if (known !== undefined) {
      Object.assign(known.shown, shown);
      return known.plot.setData(shown.data);
    }
    const plot = new uPlot(optionsFor(place, shown), shown.data, place);
    charts.set(place, { plot, shown });
    follow(place, plot);
    new ResizeObserver(() => {
      if (place.isConnected && place.clientWidth > 0) plot.setSize({ width: place.clientWidth, height: place.clientHeight });
    }).observe(place);
  }

  function optionsFor(place, shown) {
    const bars = uPlot.paths.bars({ size: [0.62, 40], radius: [0.1, 0] });
    const series = (name) => ({ paths: bars, fill: colour(name), points: { show: false }, width: 0 });
    const axis = { stroke: colour('--muted'), font, ticks: { show: false } };
    return {
      width: place.clientWidth,
      height: place.clientHeight,
      padding: [8, 0, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: (plot, least, most) => [least - 0.5, most + 0.5] },
        y: { range: (plot, least, most) => uPlot.rangeNum(0, Math.max(4, most), { min: { pad: 0, soft: 0, mode: 1 }, max: { pad: 0.05 } }) },
      },
      series: [{}, series('--bad-fill'), series('--c1')],
      axes: [
        {
          ...axis,
          size: 28,
          grid: { show: false },
          splits: () => chosen(shown.labels, place.clientWidth),
          values: (plot, splits) => splits.map((index) => shown.labels[index]),
        },
        {
          ...axis,
          size: (plot, values) => 12 + Math.max(...(values ?? ['']).map((value) => value.length)) * 7,
          grid: { stroke: colour('--line'), width: 1 },
          incrs: [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1e3, 2e3, 2.5e3, 5e3, 1e4, 2.5e4, 5e4, 1e5, 2.5e5, 5e5, 1e6],
          values: (plot, splits) => splits.map((value) => compact.format(value)),
        },
      ],
      hooks: { draw: [fadeLast], setCursor: [(plot) => explain(plot, shown)] },
    };
  }

  /** The last bar is of a time that is not over: it is drawn paler. */
  function fadeLast({ ctx, bbox, data }) {
    const width = bbox.width / data[0].length;
    ctx.save();
    ctx.globalAlpha = 0.5;
    ctx.fillStyle = colour('--surface')();
    ctx.fillRect(bbox.left + bbox.width - width, bbox.top, width, bbox.height);
    ctx.restore();
  }

  /** Arrow keys move from bar to bar, as the pointer does. */
  function follow(place, plot) {
    place.addEventListener('keydown', (event) => {
      const last = plot.data[0].length - 1;
      const at = plot.cursor.idx ?? last + 1;
      const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      plot.setCursor({ left: plot.valToPos(Math.min(Math.max(next, 0), last), 'x'), top: 0 });
    });
  }

  const compact = new Intl.NumberFormat(document.documentElement.lang, { notation: 'compact' });

  /** Bars that have a label: as many as fit, the hours at even steps. */
  function chosen(labels, width) {
    const longest = Math.max(...labels.map((label) => label.length), 1);
    const most = Math.max(2, Math.floor(width / (longest * 7 + 28)));
    const step = [1, 2, 3, 4, 6, 8, 12, 24].find((size) => labels.length / size <= most) ?? labels.length;
    // Bars that half a label takes at the right edge.
    const room = ((longest * 3.5) / (width - 40)) * labels.length;
    const first = labels.findIndex((label) => Number(label.slice(0, 2)) % step === 0 && /[:.]/.test(label));
    return labels.flatMap((_, index) => (index % step === Math.max(0, first) % step && index + room < labels.length ? [index] : []));
  }

  /** The text for the bar under the pointer. */
  function explain(plot, { heads, cells }) {
    const tip = document.getElementById('chart-tip');
    if (tip === null) return;
    const [time, ...counts] = cells[plot.cursor.idx ?? -1] ?? [];
    tip.textContent =
      time === undefined ? '' : `${time} · ${counts.map((count, index) => `${heads[index + 1]} ${count}`).join(' · ')}`;
  }

  function prepare() {
    for (const [place, { plot }] of charts)
      if (!place.isConnected) {
        plot.destroy();
        charts.delete(place);
      }
    for (const place of document.querySelectorAll('.chart[data-source]')) draw(place);
    for (const table of document.querySelectorAll('.as-table:not(.ready)')) {
      table.open = false;
      table.classList.add('ready');
    }
  }

  const redraw = () => charts.forEach(({ plot }) => plot.redraw());

  prepare();
  document.addEventListener('htmx:sseMessage', ({ target }) => target.id === 'chart' && prepare());
  document.addEventListener('htmx:afterSettle', prepare);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
}
