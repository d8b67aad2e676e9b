const byId = (id) => document.getElementById(id);
const kColours = ['#2f7de1', '#e0762c', '#2e9f5b', '#b04ac2', '#c9a311', '#14a3a8', '#d34c63', '#7a7f87'];
const dark = matchMedia('(prefers-color-scheme: dark)');

// --- Communication with the server ------------------------------------------

const urlToken = new URLSearchParams(location.search).get('token');
if (urlToken) {
  sessionStorage.setItem('token', urlToken);
  history.replaceState(null, '', '/'); // keep the token out of the history and the screen
}
const token = sessionStorage.getItem('token') || '';

async function fetchJson(path, body) {
  const request = {headers: {'X-Brew-Token': token}};
  if (body !== undefined) {
    request.method = 'POST';
    request.headers['Content-Type'] = 'application/json';
    request.body = JSON.stringify(body);
  }
  const response = await fetch('/api/' + path, request);
  const answer = await response.json();
  if (!response.ok)
    throw new Error(answer.error || response.statusText);
  return answer;
}

function showMessage(text) {
  byId('message').hidden = !text;
  byId('message').textContent = text || '';
}

/// Hides the message when it sends the command, because the answer to an earlier command may arrive
/// after the error of a later one.
async function sendCommand(path, body = {}) {
  showMessage('');
  try {
    await fetchJson(path, body);
    return true;
  } catch (error) {
    showMessage(error.message);
    return false;
  }
}

function addElement(tag, parent, text, className) {
  const child = document.createElement(tag);
  if (text !== undefined)
    child.textContent = text;
  if (className)
    child.className = className;
  parent.append(child);
  return child;
}

function formatNumber(value, digits = 4) {
  if (value === null || value === undefined || !isFinite(value))
    return '–';
  const text = (number) => number.toLocaleString('en', {maximumFractionDigits: 8}).replace('-', '−');
  const rounded = Number(value.toPrecision(digits)), size = Math.abs(rounded);
  if (size === 0 || (size >= 1e-4 && size < Math.max(1e7, 10 ** digits)))
    return text(rounded);
  const [factor, exponent] = value.toExponential(Math.min(digits, 3) - 1).split('e');
  const superscript = [...exponent.replace('+', '')].map((c) => c === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[c]).join('');
  return text(Number(factor)) + '·10' + superscript;
}

/// Returns a duration as "45 s", "12 min", "3 h 20 min" or "2 d 5 h".
function formatDuration(seconds) {
  if (!isFinite(seconds))
    return '–';
  const minutes = Math.round(seconds / 60), hours = Math.round(seconds / 3600);
  if (seconds < 99.5)
    return Math.round(seconds) + ' s';
  if (minutes < 100)
    return minutes + ' min';
  if (hours < 48)
    return Math.floor(minutes / 60) + ' h ' + minutes % 60 + ' min';
  return formatNumber(Math.floor(hours / 24), 9) + ' d ' + hours % 24 + ' h';
}

// --- Charts -----------------------------------------------------------------

const charts = new Map(); // by measure
let zoom = null;          // [from, to] iterations, common to all charts
let smoothing = .6, logarithmic = false;

/// Curves of one measure share a chart: test.loss and train.loss are in `loss`.
const measureOf = (curve) => curve.replace(/^(train|test\d*|episodes|running|mean of 100)\./, '');
const kFirstCharts = ['reward', 'loss', 'accuracy'], kLastCharts = ['learning rate', 'images/s', 'steps/s', 'iterations/s'];
function chartOrder(measure) {
  const first = kFirstCharts.indexOf(measure), last = kLastCharts.indexOf(measure);
  return first >= 0 ? first : last >= 0 ? 100 + last : 50;
}

function smoothed(points, weight) {
  const result = [];
  let mean = 0, mass = 0;
  for (const [x, y] of points) {
    mean = mean * weight + y * (1 - weight);
    mass = mass * weight + (1 - weight);
    result.push([x, mean / mass]);
  }
  return result;
}

function tickValues(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough);
  const result = [];
  for (let t = Math.ceil(low / step) * step; t <= high + step * 1e-9; t += step)
    result.push(Math.abs(t) < step * 1e-9 ? 0 : t);
  return result;
}

class Chart {
  constructor(measure) {
    this.measure = measure;
    this.curves = new Map(); // name -> {points, colour, label}
    this.root = document.createElement('div');
    this.root.className = 'chart';
    this.root.dataset.measure = measure;
    this.heading = addElement('h3', this.root);
    this.canvas = addElement('canvas', this.root);
    this.tip = addElement('div', this.root, '', 'tip');
    this.tip.hidden = true;
    this.drag = null;
    this.canvas.addEventListener('pointerdown', (e) => {
      this.drag = [e.offsetX, e.offsetX];
      this.canvas.setPointerCapture(e.pointerId);
    });
    this.canvas.addEventListener('pointermove', (e) => this.hover(e));
    this.canvas.addEventListener('pointerup', () => this.drop());
    this.canvas.addEventListener('pointerleave', () => {
      this.tip.hidden = true;
      this.at = undefined;
      this.draw();
    });
    this.canvas.addEventListener('dblclick', () => setZoom(null));
  }
  findOrAddCurve(name, label, colour) {
    if (!this.curves.has(name)) {
      this.curves.set(name, {points: [], label, colour: colour || kColours[this.curves.size % kColours.length]});
      this.heading.replaceChildren(this.measure);
      for (const {label, colour} of this.curves.values()) {
        if (label === this.measure)
          continue; // the heading is sufficient
        const entry = addElement('span', this.heading);
        addElement('i', entry).style.background = colour;
        entry.append(label);
      }
    }
    return this.curves.get(name);
  }
  hover(event) {
    this.at = event.offsetX;
    if (this.drag)
      this.drag[1] = event.offsetX;
    this.draw();
  }
  drop() {
    if (this.drag && this.x && Math.abs(this.drag[0] - this.drag[1]) > 5)
      setZoom(this.drag.map((px) => this.x.value(px)).sort((a, b) => a - b));
    this.drag = null;
    this.draw();
  }
  draw() {
    const style = getComputedStyle(document.body), text = style.getPropertyValue('--faint'),
          line = style.getPropertyValue('--line'), width = this.canvas.clientWidth,
          height = this.canvas.clientHeight, ratio = devicePixelRatio || 1;
    if (!width)
      return;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const pen = this.canvas.getContext('2d');
    pen.scale(ratio, ratio);
    pen.font = '11px system-ui, sans-serif';
    const left = 54, right = width - 8, top = 8, bottom = height - 20;
    let low = Infinity, high = -Infinity, from = Infinity, to = -Infinity;
    const log = logarithmic && !this.measure.endsWith('/s');
    const lines = [];
    for (const curve of this.curves.values()) {
      const usable = curve.points.filter(([, y]) => !log || y > 0);
      const soft = smoothing > 0 && usable.length > 20 && this.measure !== 'learning rate' ?
          smoothed(usable, smoothing) : usable;
      lines.push({curve, raw: usable, soft});
      for (const [x] of usable) {
        from = Math.min(from, x);
        to = Math.max(to, x);
      }
    }
    if (zoom)
      [from, to] = zoom;
    for (const {raw, soft} of lines)
      for (const points of [raw, soft])
        for (const [x, y] of points)
          if (x >= from && x <= to) {
            low = Math.min(low, y);
            high = Math.max(high, y);
          }
    if (!isFinite(low))
      return;
    if (to <= from)
      to = from + 1;
    if (log) {
      low = Math.log10(low);
      high = Math.log10(high);
    } else if (this.measure === 'loss' || this.measure.endsWith('/s') || this.measure === 'learning rate') {
      low = Math.min(low, 0);
    }
    if (high - low < 1e-12 * Math.max(1, Math.abs(high))) {
      const more = Math.abs(high) * .5 || 1;
      high += more;
      low -= low === 0 ? 0 : more;
    }
    const margin = (high - low) * .04;
    high += margin;
    if (low !== 0)
      low -= margin;
    const px = (x) => left + (x - from) / (to - from) * (right - left);
    const py = (y) => bottom - ((log ? Math.log10(y) : y) - low) / (high - low) * (bottom - top);
    this.x = {value: (at) => from + (at - left) / (right - left) * (to - from)};
    pen.strokeStyle = line;
    pen.fillStyle = text;
    pen.textBaseline = 'middle';
    pen.textAlign = 'right';
    for (const t of tickValues(low, high, 5)) {
      const y = bottom - (t - low) / (high - low) * (bottom - top);
      pen.beginPath();
      pen.moveTo(left, y);
      pen.lineTo(right, y);
      pen.stroke();
      pen.fillText(formatNumber(log ? 10 ** t : t, 3), left - 6, y);
    }
    pen.textAlign = 'center';
    pen.textBaseline = 'top';
    for (const t of tickValues(from, to, Math.max(2, width / 110)))
      pen.fillText(formatNumber(t, 6), Math.min(right - 12, px(t)), bottom + 6);
    pen.save();
    pen.beginPath();
    pen.rect(left, top - 3, right - left, bottom - top + 6);
    pen.clip();
    pen.lineJoin = 'round';
    const stroke = (points) => {
      pen.beginPath();
      points.forEach(([x, y], i) => i ? pen.lineTo(px(x), py(y)) : pen.moveTo(px(x), py(y)));
      pen.stroke();
    };
    for (const {curve, raw, soft} of lines) {
      pen.strokeStyle = pen.fillStyle = curve.colour;
      if (soft !== raw) {
        pen.globalAlpha = .22;
        pen.lineWidth = 1;
        stroke(raw);
        pen.globalAlpha = 1;
      }
      pen.lineWidth = 1.8;
      stroke(soft);
      if (raw.length <= 40)
        for (const [x, y] of raw) {
          pen.beginPath();
          pen.arc(px(x), py(y), 2.6, 0, 7);
          pen.fill();
        }
    }
    pen.restore();
    if (this.drag) {
      pen.fillStyle = style.getPropertyValue('--accent');
      pen.globalAlpha = .18;
      pen.fillRect(Math.min(...this.drag), top, Math.abs(this.drag[1] - this.drag[0]), bottom - top);
      pen.globalAlpha = 1;
    }
    this.showTip(lines, px, py, pen, left, right, top, bottom);
  }
  showTip(lines, px, py, pen, left, right, top, bottom) {
    this.tip.hidden = true;
    if (this.at === undefined || this.at < left || this.at > right)
      return;
    const x = this.x.value(this.at);
    this.tip.replaceChildren();
    let iteration;
    for (const {curve, soft} of lines) {
      if (!soft.length)
        continue;
      const [nx, ny] = soft.reduce((a, b) => Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a);
      iteration = iteration === undefined ? nx : iteration;
      pen.fillStyle = curve.colour;
      pen.beginPath();
      pen.arc(px(nx), py(ny), 3.5, 0, 7);
      pen.fill();
      const row = addElement('div', this.tip);
      addElement('span', row, undefined, 'swatch').style.background = curve.colour;
      row.append(curve.label + ' ' + formatNumber(ny, 5));
    }
    if (iteration === undefined)
      return;
    this.tip.prepend('iteration ' + formatNumber(Math.round(iteration), 9));
    this.tip.hidden = false;
    const room = this.canvas.clientWidth - this.tip.offsetWidth - 12;
    this.tip.style.left = Math.max(0, Math.min(this.at + 12, room)) + 'px';
    this.tip.style.top = '2.6rem';
  }
}

function findOrAddChart(measure) {
  if (!charts.has(measure)) {
    byId('nocurves').hidden = true;
    const chart = new Chart(measure);
    charts.set(measure, chart);
    const after = [...charts.values()].filter((other) => other !== chart)
        .sort((a, b) => chartOrder(a.measure) - chartOrder(b.measure))
        .find((other) => chartOrder(other.measure) > chartOrder(measure));
    byId('charts').insertBefore(chart.root, after ? after.root : null);
  }
  return charts.get(measure);
}

let drawDue = false;
function scheduleDraw() {
  if (drawDue)
    return;
  drawDue = true;
  requestAnimationFrame(() => {
    drawDue = false;
    charts.forEach((chart) => chart.draw());
  });
}

function setZoom(range) {
  zoom = range;
  byId('unzoom').disabled = !zoom;
  scheduleDraw();
}

const kMaxPoints = 4000;
function addPoint(curve, iteration, value) {
  if (value === null || !isFinite(value))
    return;
  const {points} = findOrAddChart(measureOf(curve)).findOrAddCurve(curve, curve.split('.')[0]);
  if (points.length && points[points.length - 1][0] > iteration)
    return;
  points.push([iteration, value]);
  if (points.length > kMaxPoints) // average neighbours
    points.splice(0, kMaxPoints, ...Array.from({length: kMaxPoints / 2}, (_, i) =>
        [0, 1].map((k) => (points[2 * i][k] + points[2 * i + 1][k]) / 2)));
}

byId('smoothing').addEventListener('input', (e) => { smoothing = +e.target.value; scheduleDraw(); });
byId('logscale').addEventListener('change', (e) => { logarithmic = e.target.checked; scheduleDraw(); });
byId('unzoom').addEventListener('click', () => setZoom(null));
addEventListener('resize', scheduleDraw);
dark.addEventListener('change', scheduleDraw);

// --- Images and histograms --------------------------------------------------

function paintTiles(canvas, images) {
  const {width, height, channels, tiles} = images;
  canvas.hidden = !tiles.length;
  if (!tiles.length)
    return;
  const columns = Math.min(tiles.length, Math.max(1, Math.ceil(Math.sqrt(tiles.length * height / width * 1.6))));
  const rows = Math.ceil(tiles.length / columns), gap = tiles.length > 1 ? 1 : 0;
  canvas.width = columns * (width + gap) - gap;
  canvas.height = rows * (height + gap) - gap;
  const pen = canvas.getContext('2d');
  tiles.forEach((pixels, t) => {
    const image = pen.createImageData(width, height);
    for (let p = 0; p < width * height; ++p) {
      for (let c = 0; c < 3; ++c)
        image.data[4 * p + c] = pixels[channels === 3 ? 3 * p + c : p];
      image.data[4 * p + 3] = 255;
    }
    pen.putImageData(image, t % columns * (width + gap), Math.floor(t / columns) * (height + gap));
  });
}

function paintHistogram(canvas, histogram) {
  const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext('2d'), style = getComputedStyle(document.body);
  pen.scale(ratio, ratio);
  const maxCount = Math.max(...histogram.bins, 1), barWidth = width / histogram.bins.length;
  pen.fillStyle = style.getPropertyValue('--accent');
  histogram.bins.forEach((count, i) => {
    const barHeight = count / maxCount * (height - 16);
    pen.fillRect(i * barWidth, height - 14 - barHeight, Math.max(1, barWidth - 1), barHeight);
  });
  pen.fillStyle = style.getPropertyValue('--faint');
  pen.font = '11px system-ui, sans-serif';
  pen.textBaseline = 'bottom';
  pen.fillText(formatNumber(histogram.min, 3), 0, height);
  pen.textAlign = 'right';
  pen.fillText(formatNumber(histogram.max, 3), width, height);
}

/// A card that shows a tensor chosen from a list.
class TensorCard {
  constructor(kind, names, ids) {
    this.kind = kind;
    this.ids = ids;
    byId(ids.card).hidden = !names.length;
    this.select = byId(ids.select);
    for (const {name, index} of names)
      addElement('option', this.select, kind === 'parameter' ? name + ' ' + (['weights', 'bias'][index] || index) : name)
          .value = JSON.stringify([name, index]);
    this.select.addEventListener('change', () => this.refresh());
    this.empty = !names.length;
  }
  async refresh() {
    if (this.empty || this.busy)
      return;
    this.busy = true;
    try {
      const [name, index] = JSON.parse(this.select.value);
      const answer = await fetchJson(this.kind + '?' + new URLSearchParams({name, index}));
      paintTiles(byId(this.ids.images), answer.images);
      paintHistogram(byId(this.ids.histogram), answer.histogram);
      const {mean, deviation, non_finite: nonFinite} = answer.histogram;
      byId(this.ids.note).textContent = answer.shape.join(' × ') + ', mean ' + formatNumber(mean, 3) +
          ', deviation ' + formatNumber(deviation, 3) + (nonFinite ? ', ' + nonFinite + ' are not finite' : '') +
          (answer.images.left ? '; ' + answer.images.left + ' more are not shown' : '');
    } catch (error) {
      byId(this.ids.note).textContent = error.message;
    } finally {
      this.busy = false;
    }
  }
}

/// Shows the buttons that change the chosen parameter.
function openChanges() {
  byId('changes').hidden = byId('changenote').hidden = false;
  for (const button of byId('changes').querySelectorAll('button'))
    button.addEventListener('click', () => {
      const [name, index] = JSON.parse(byId('parameter').value), action = button.dataset.action;
      const factor = Number(byId('factor').value);
      if (action === 'scale' && (byId('factor').value.trim() === '' || !isFinite(factor)))
        return showMessage('The factor is not a number.');
      sendCommand('change', {name, index, action, ...(action === 'scale' && {factor})});
    });
}

// --- The net ----------------------------------------------------------------

const bars = new Map(); // layer -> rect, text
let timings = []; // per node: rect, text
const kNodeWidth = 180, kNodeHeight = 68, kGraphMargin = 2;
const kTextFont = '13px system-ui, sans-serif', kSmallFont = '12px system-ui, sans-serif';
function drawGraph({nodes, edges}) {
  const svg = byId('graph'), namespace = svg.namespaceURI;
  const make = (tag, attributes, parent = svg, text) => {
    const child = document.createElementNS(namespace, tag);
    for (const [name, value] of Object.entries(attributes))
      child.setAttribute(name, value);
    if (text !== undefined)
      child.textContent = text;
    parent.append(child);
    return child;
  };
  if (!nodes.length)
    return;
  const boxes = nodes.map(() => ({width: kNodeWidth}));
  const lines = edges.map(([from, to]) => ({from: boxes[from], to: boxes[to]}));
  const width = layOut(boxes, lines, {height: kNodeHeight, rowGap: 28, columnGap: 14}) + 2 * kGraphMargin;
  const height = Math.max(...boxes.map((box) => box.y)) + kNodeHeight / 2 + 2 * kGraphMargin;
  svg.setAttribute('viewBox', `${-kGraphMargin} ${-kGraphMargin} ${width} ${height}`);
  for (const line of lines)
    make('path', {class: 'edge', d: edgePath(line, kNodeHeight)});
  nodes.forEach(({name, layers, kind, shape}, i) => {
    const x = boxes[i].x - kNodeWidth / 2, y = boxes[i].y - kNodeHeight / 2, group = make('g', {});
    make('title', {}, group, name + '\n' + kind + '\n' + shape);
    make('rect', {class: 'node', x, y, width: kNodeWidth, height: kNodeHeight, rx: 7}, group);
    make('text', {x: x + 10, y: y + 17}, group, shortenToWidth(name, kTextFont, kNodeWidth - 18));
    const heat = make('rect', {class: 'heat', x: x + 1, y: y + 6, width: 4, height: kNodeHeight - 12, rx: 2, opacity: 0}, group);
    make('text', {class: 'small', x: x + 10, y: y + 33}, group, shortenToWidth(shape || kind, kSmallFont, kNodeWidth - 18));
    const time = make('text', {class: 'small time', x: x + 10, y: y + 48}, group, '');
    timings.push({heat, time});
    const track = make('rect', {class: 'track', x: x + 10, y: y + 56, width: kNodeWidth - 80, height: 5, rx: 2}, group);
    const bar = make('rect', {x: x + 10, y: y + 56, width: 0, height: 5, rx: 2}, group);
    const value = make('text', {class: 'small', x: x + kNodeWidth - 8, y: y + 62, 'text-anchor': 'end'}, group, '');
    track.style.visibility = 'hidden';
    for (const layer of layers)
      bars.set(layer, {bar, track, value, full: kNodeWidth - 80});
  });
  new ScrollingBox(byId('graphbox'), byId('graphtools'))
      .show(svg, width, height, {x: boxes[0].x + kGraphMargin, y: boxes[0].y + kGraphMargin});
}

function showUpdates(updates) {
  if (!updates)
    return;
  for (const [layer, rate] of Object.entries(updates.layers)) {
    const view = bars.get(layer);
    if (!view)
      continue;
    const logRate = Math.log10(Math.max(rate, 1e-6));
    view.track.style.visibility = 'visible';
    view.bar.setAttribute('width', Math.max(0, Math.min(1, (logRate + 6) / 6)) * view.full);
    view.bar.style.fill = `var(--${logRate < -4 ? 'low' : logRate > -2 ? 'bad' : 'good'})`;
    view.value.textContent = formatNumber(rate, 2);
  }
}

function showTimes(times) {
  if (!times)
    return;
  const milliseconds = (seconds) => formatNumber(seconds * 1e3, seconds < 1e-4 ? 1 : seconds < .1 ? 2 : 3);
  const maxSeconds = Math.max(...times.nodes.map(([forward, backward]) => forward + backward), 1e-12);
  times.nodes.forEach(([forward, backward], i) => {
    const {heat, time} = timings[i];
    heat.setAttribute('opacity', (forward + backward) / maxSeconds);
    time.textContent = !forward && !backward ? '' :
        milliseconds(forward) + (backward ? ' + ' + milliseconds(backward) : '') + ' ms';
  });
}

// --- The solver -------------------------------------------------------------

const inputs = new Map(); // field -> function that shows a new value
const kSliders = ['base_lr', 'momentum', 'weight_decay'];
function listFields(fields) {
  for (const field of fields) {
    const value = Number(field.value), hasSlider = kSliders.includes(field.name) && value > 0;
    const row = addElement('div', byId(hasSlider ? 'sliders' : 'fields'), undefined, hasSlider ? 'row' : 'row plain');
    const label = addElement('label', row, field.name);
    label.title = field.help;
    let slider;
    if (hasSlider) {
      slider = addElement('input', row);
      slider.type = 'range';
      slider.id = 'slider-' + field.name;
      slider.setAttribute('aria-label', field.name);
      slider.step = 'any';
    }
    const text = addElement('input', row);
    text.type = 'text';
    text.id = 'field-' + field.name;
    label.htmlFor = text.id;
    // Learning rates use a logarithmic scale, momentum a linear one.
    const linear = field.name === 'momentum';
    // 0.00002 instead of 2e-05.
    const plain = (value) => field.kind === 'real' && isFinite(value) ? String(Number(value)) : value;
    const show = (value) => {
      text.value = plain(value);
      if (slider && document.activeElement !== slider) {
        const sliderValue = linear ? Number(value) : Math.log10(Math.max(1e-12, Number(value)));
        if (slider.min === '' || sliderValue < +slider.min || sliderValue > +slider.max) {
          slider.min = linear ? 0 : sliderValue - 2;
          slider.max = linear ? 1 : sliderValue + 2;
        }
        slider.value = sliderValue;
      }
    };
    if (slider) {
      slider.min = linear ? 0 : Math.log10(value) - 2;
      slider.max = linear ? .999 : Math.log10(value) + 2;
      const read = () => String(Number((linear ? +slider.value : 10 ** slider.value).toPrecision(3)));
      slider.addEventListener('input', () => { text.value = read(); });
      slider.addEventListener('change', () => { sendCommand('set', {name: field.name, value: read()}); });
    }
    text.addEventListener('change', async () => {
      if (!await sendCommand('set', {name: field.name, value: text.value}))
        text.value = plain(field.value);
    });
    show(field.value);
    inputs.set(field.name, (value) => { field.value = value; show(value); });
  }
}

// --- Drawing ----------------------------------------------------------------

function openPad({width, height}) {
  byId('drawcard').hidden = false;
  const pad = byId('pad'), pen = pad.getContext('2d', {willReadFrequently: true});
  const seen = byId('seen');
  seen.width = width;
  seen.height = height;
  let last = null, due = false, busy = false, empty = true;
  pen.lineCap = pen.lineJoin = 'round';
  pen.strokeStyle = '#fff';
  pen.lineWidth = 17;

  /// Returns the pixels of the net's input: the drawing, centred and scaled so that its longer side is 20/28 of the
  /// image, as in MNIST.
  function pixels() {
    const {data} = pen.getImageData(0, 0, pad.width, pad.height);
    let left = pad.width, right = -1, top = pad.height, bottom = -1, mass = 0, mx = 0, my = 0;
    for (let y = 0; y < pad.height; ++y)
      for (let x = 0; x < pad.width; ++x) {
        const value = data[4 * (y * pad.width + x)];
        if (value < 20)
          continue;
        left = Math.min(left, x); right = Math.max(right, x);
        top = Math.min(top, y); bottom = Math.max(bottom, y);
        mass += value; mx += value * x; my += value * y;
      }
    const to = seen.getContext('2d', {willReadFrequently: true});
    to.fillStyle = '#000';
    to.fillRect(0, 0, width, height);
    if (right >= 0) {
      const scale = Math.min(width, height) * 20 / 28 / Math.max(right - left + 1, bottom - top + 1);
      to.imageSmoothingQuality = 'high';
      to.drawImage(pad, left, top, right - left + 1, bottom - top + 1,
                   width / 2 - (mx / mass - left + .5) * scale, height / 2 - (my / mass - top + .5) * scale,
                   (right - left + 1) * scale, (bottom - top + 1) * scale);
    }
    const small = to.getImageData(0, 0, width, height).data;
    return Array.from({length: width * height}, (_, i) => Number((small[4 * i] / 255).toFixed(3)));
  }
  function showScores(scores) {
    const list = byId('classes');
    if (list.children.length !== scores.length) {
      list.replaceChildren();
      scores.forEach((_, i) => {
        const row = addElement('div', list);
        addElement('span', row, i);
        addElement('i', addElement('span', row, undefined, 'bar'));
        addElement('span', row);
      });
    }
    const best = Math.max(...scores);
    [...list.children].forEach((row, i) => {
      row.className = scores[i] === best ? 'best' : '';
      row.querySelector('i').style.width = 100 * Math.max(0, Math.min(1, scores[i])) + '%';
      row.lastChild.textContent = scores[i] >= 0 && scores[i] <= 1 ? (100 * scores[i]).toFixed(1) + ' %' : formatNumber(scores[i], 3);
    });
    list.dataset.best = scores.indexOf(best);
  }
  async function classify() {
    if (busy) {
      due = true;
      return;
    }
    busy = true;
    try {
      const answer = await fetchJson('classify', {pixels: pixels()});
      if (!empty) {
        showScores(answer.scores.slice(0, 20));
        const maps = byId('drawnmaps');
        maps.replaceChildren();
        for (const [name, images] of Object.entries(answer.blobs)) {
          addElement('p', maps, name, 'hint');
          paintTiles(addElement('canvas', maps, undefined, 'tilesview'), images);
        }
      }
    } catch (error) {
      showMessage(error.message);
    }
    busy = false;
    if (due) {
      due = false;
      classify();
    }
  }
  const at = (e) => [e.offsetX * pad.width / pad.clientWidth, e.offsetY * pad.height / pad.clientHeight];
  pad.addEventListener('pointerdown', (e) => { pad.setPointerCapture(e.pointerId); last = at(e); });
  pad.addEventListener('pointermove', (e) => {
    if (!last)
      return;
    pen.beginPath();
    pen.moveTo(...last);
    last = at(e);
    pen.lineTo(...last);
    pen.stroke();
    empty = false;
    classify();
  });
  pad.addEventListener('pointerup', () => { last = null; if (!empty) classify(); });
  byId('clear').addEventListener('click', () => {
    pen.clearRect(0, 0, pad.width, pad.height);
    empty = true;
    byId('classes').replaceChildren();
    byId('drawnmaps').replaceChildren();
    seen.getContext('2d', {willReadFrequently: true}).clearRect(0, 0, width, height);
  });
  // Classify the same drawing again during training.
  setInterval(() => { if (!empty && !last && !document.hidden && !byId('play').disabled) classify(); }, 2000);
}

// --- Reinforcement learning --------------------------------------------------

let scene = null, sceneStart = 0; // the replayed episode and the time at which its replay started
function drawScene(time) {
  const canvas = byId('scene'), ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (!scene || !width)
    return;
  const frame = Math.max(0, Math.min(scene.frames.length - 1, Math.floor((time - sceneStart) / scene.milliseconds)));
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.dataset.step = frame + 1;
  const pen = canvas.getContext('2d'), style = getComputedStyle(document.body);
  pen.scale(ratio, ratio);
  const [position, angle] = scene.frames[frame], metre = Math.min(width / 5.4, height / 2.2), ground = height / 2 + metre * .6;
  const x = width / 2 + position * metre;
  pen.strokeStyle = style.getPropertyValue('--faint');
  pen.beginPath();
  pen.moveTo(width / 2 - 2.4 * metre, ground);
  pen.lineTo(width / 2 + 2.4 * metre, ground);
  for (const edge of [-2.4, 2.4]) {
    pen.moveTo(width / 2 + edge * metre, ground - .12 * metre);
    pen.lineTo(width / 2 + edge * metre, ground + .12 * metre);
  }
  pen.stroke();
  pen.fillStyle = style.getPropertyValue('--text');
  pen.fillRect(x - .25 * metre, ground - .15 * metre, .5 * metre, .3 * metre);
  const foot = ground - .075 * metre;
  pen.lineCap = 'round';
  pen.strokeStyle = kColours[1];
  pen.lineWidth = .09 * metre;
  pen.beginPath();
  pen.moveTo(x, foot);
  pen.lineTo(x + Math.sin(angle) * metre, foot - Math.cos(angle) * metre);
  pen.stroke();
  pen.fillStyle = style.getPropertyValue('--accent');
  pen.beginPath();
  pen.arc(x, foot, .05 * metre, 0, 7);
  pen.fill();
  byId('scenenote').textContent = 'step ' + (frame + 1) + ' of ' + scene.frames.length + '; an episode with a reward of ' +
      formatNumber(scene.reward, 4) + ', in real time. Episodes in between are skipped.';
  if (frame + 1 < scene.frames.length)
    requestAnimationFrame(drawScene);
}

function replay(episode) {
  if (!episode || !episode.environment.startsWith('cartpole'))
    return;
  byId('scenecard').hidden = false;
  byId('scenename').textContent = episode.environment;
  scene = episode;
  sceneStart = performance.now();
  requestAnimationFrame(drawScene);
}

function showLearning(learning) {
  if (learning.episodes)
    byId('progress').style.width = 100 * Math.min(1, learning.episode / learning.episodes) + '%';
  byId('scorename').textContent = 'reward, mean of 100';
  byId('score').textContent = learning.episode ? formatNumber(learning.mean_reward, 4) : '–';
  byId('scoreat').textContent = 'episode ' + formatNumber(learning.episode, 9) + (learning.episodes ? ' of ' + formatNumber(learning.episodes, 9) : '');
  byId('waits').textContent = formatNumber(learning.steps, 9) + ' steps' + (learning.collapsed ? '; the policy has collapsed' : '');
}

// --- A run ------------------------------------------------------------------

let paused = false, finished = false, itemsName = 'images/s';
let secondsPerIteration = NaN; // a running mean
function showRemainingTime(run) {
  byId('remainingtile').hidden = !run.max_iteration;
  if (run.iterations_per_second) {
    const seconds = 1 / run.iterations_per_second;
    secondsPerIteration = isNaN(secondsPerIteration) ? seconds : .9 * secondsPerIteration + .1 * seconds;
  }
  const remaining = Math.max(0, run.max_iteration - run.iteration) * secondsPerIteration;
  byId('remaining').textContent = formatDuration(finished ? NaN : remaining);
  const format = remaining < 20 * 3600 ? {hour: 'numeric', minute: '2-digit'} : {month: 'short', day: 'numeric'};
  byId('end').textContent = finished || paused || !isFinite(remaining) ? '' :
      'until ' + new Date(Date.now() + remaining * 1e3).toLocaleString('en-GB', format);
}

function showProgress(run) {
  paused = run.paused;
  finished = run.finished;
  byId('iteration').textContent = formatNumber(run.iteration, 9);
  byId('left').textContent = run.max_iteration ? 'of ' + formatNumber(run.max_iteration, 9) : '';
  byId('progress').style.width = run.max_iteration ? 100 * Math.min(1, run.iteration / run.max_iteration) + '%' : 0;
  byId('loss').textContent = run.iteration ? formatNumber(run.loss) : '–';
  byId('smoothed').textContent = run.iteration ? 'average ' + formatNumber(run.smoothed_loss) : '';
  byId('lr').textContent = formatNumber(run.lr);
  byId('speed').textContent = run.items_per_second ? formatNumber(run.items_per_second, 3) : '–';
  byId('waits').textContent = run.waits ? 'waited for data ' + formatNumber(run.waits, 7) + ' times' : 'no wait for data';
  showRemainingTime(run);
  if (run.learning)
    showLearning(run.learning);
  byId('status').textContent = finished ? 'finished' : paused ? 'paused' : 'running';
  byId('status').className = 'chip ' + (finished ? '' : paused ? 'paused' : 'running');
  byId('play').textContent = paused ? 'Play' : 'Pause';
  for (const button of byId('buttons').children)
    button.disabled = finished;
}

function showTest(values, iteration) {
  const names = Object.keys(values);
  const name = names.find((candidate) => /accuracy|map|top/i.test(candidate)) || names.find((candidate) => /loss/i.test(candidate)) || names[0];
  if (!name)
    return;
  byId('scorename').textContent = name.replace('.', ' ');
  byId('score').textContent = formatNumber(values[name]);
  byId('scoreat').textContent = 'after ' + formatNumber(Math.round(iteration), 9) + ' iterations';
}

function addLine(text) {
  const log = byId('log'), atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 20;
  log.append(text + '\n');
  while (log.childNodes.length > 300)
    log.firstChild.remove();
  if (atEnd)
    log.scrollTop = log.scrollHeight;
}

let lastSpeed = 0;
function handleMessage(message) {
  switch (message.type) {
  case 'progress':
    showProgress(message);
    addPoint('train.loss', message.iteration - 1, message.loss);
    addPoint('learning rate', message.iteration - 1, message.lr);
    for (const [name, value] of Object.entries(message.points || {}))
      addPoint(name, message.iteration - 1, value);
    if (message.items_per_second !== lastSpeed)
      addPoint(itemsName, message.iteration, lastSpeed = message.items_per_second);
    return scheduleDraw();
  case 'test':
    for (const [name, value] of Object.entries(message.values))
      addPoint(name, message.iteration, value);
    showTest(message.values, message.iteration);
    return scheduleDraw();
  case 'episode':
    return replay(message);
  case 'reset':
    for (const chart of charts.values())
      for (const curve of chart.curves.values())
        curve.points.length = 0;
    return setZoom(null);
  case 'field':
    if (inputs.has(message.name))
      inputs.get(message.name)(message.value);
    return;
  case 'log':
    return addLine(message.text);
  case 'layout':
    return handleLayout(message);
  }
}

function showCurves(curves) {
  for (const [name, points] of Object.entries(curves))
    for (const [x, y] of points)
      addPoint(name, x, y);
}

function showRun(state) {
  for (const id of ['buttons', 'progressbar', 'tiles', 'solver', 'logcard', 'netcard'])
    byId(id).hidden = false;
  document.title = state.net + ' – Brew monitor';
  byId('net').textContent = state.net || 'Net';
  byId('device').textContent = state.device === 'cpu' ? 'on the CPU' : 'on ' + state.device;
  itemsName = byId('speedname').textContent = state.items;
  showProgress(state);
  showCurves(state.curves);
  const tested = {};
  let when = 0;
  for (const [name, points] of Object.entries(state.curves))
    if (name.startsWith('test') && points.length)
      [when, tested[name]] = points[points.length - 1];
  if (!state.learning)
    showTest(tested, when);
  state.log.forEach(addLine);
  byId('log').scrollTop = byId('log').scrollHeight;
  drawGraph(state.graph);
  replay(state.played);
  if (state.controls) {
    listFields(state.fields);
    if (state.parameters.length)
      openChanges();
  } else {
    for (const id of ['solver', 'play', 'step', 'reset'])
      byId(id).hidden = true;
  }
  if (state.draw)
    openPad(state.draw);
  const cards = [
    new TensorCard('parameter', state.parameters,
                   {card: 'weightcard', select: 'parameter', images: 'weights', histogram: 'weighthistogram', note: 'weightnote'}),
    new TensorCard('blob', state.blobs,
                   {card: 'blobcard', select: 'blob', images: 'maps', histogram: 'maphistogram', note: 'mapnote'})];
  const refreshCards = async () => {
    if (document.hidden || finished)
      return;
    cards.forEach((card) => card.refresh());
    try {
      showUpdates(await fetchJson('updates'));
      showTimes(await fetchJson('times'));
    } catch {
      // The stream reports the end of the run.
    }
  };
  refreshCards();
  setInterval(refreshCards, 2000);
  byId('play').addEventListener('click', () => sendCommand(paused ? 'resume' : 'pause'));
  byId('step').addEventListener('click', () => sendCommand('step'));
  byId('reset').addEventListener('click', () => {
    if (confirm('Discard everything learned since the run began, and restart?'))
      sendCommand('reset');
  });
  byId('snapshot').addEventListener('click', () => sendCommand('snapshot'));
  byId('stop').addEventListener('click', () => {
    if (confirm('Write a snapshot and end the run?'))
      sendCommand('stop');
  });
  addEventListener('keydown', (e) => {
    if (e.target !== document.body || !state.controls)
      return;
    if (e.key === ' ')
      byId('play').click();
    else if (e.key === '.')
      byId('step').click();
    else
      return;
    e.preventDefault();
  });
  scheduleDraw();
}

function listen() {
  const source = new EventSource('/api/events?' + new URLSearchParams({token}));
  source.onmessage = (event) => handleMessage(JSON.parse(event.data));
  source.onerror = () => {
    if (finished) {
      source.close();
      return;
    }
    byId('status').textContent = 'no connection';
    byId('status').className = 'chip lost';
  };
}

// --- Several runs -----------------------------------------------------------

const runEntries = new Map(); // run -> {colour, version, on, curves, row, iteration, progress}

/** Adds a run and its table row. Updates keep the row, because a click needs the same box from press to release. */
function addRun(name, title) {
  const row = document.createElement('tr'), cell = addElement('td', row), box = addElement('input', cell);
  const entry = {colour: kColours[runEntries.size % kColours.length], version: -1, on: true, curves: {}, row};
  runEntries.set(name, entry);
  box.type = 'checkbox';
  box.checked = true;
  box.setAttribute('aria-label', name);
  box.addEventListener('change', () => { entry.on = box.checked; redrawRuns(); });
  const text = addElement('td', row);
  addElement('span', text, undefined, 'swatch').style.background = entry.colour;
  text.append(title);
  entry.iteration = addElement('td', row, '', 'n');
  entry.progress = addElement('td', row);
  return entry;
}

async function showRuns() {
  const state = await fetchJson('state');
  byId('folder').textContent = state.folder;
  byId('status').textContent = state.runs.length === 1 ? '1 run' : state.runs.length + ' runs';
  const list = byId('runlist');
  let changed = false;
  for (const [name, entry] of runEntries)
    if (!state.runs.some((run) => run.name === name)) {
      entry.row.remove();
      changed = runEntries.delete(name);
    }
  for (const [number, run] of state.runs.entries()) {
    const entry = runEntries.get(run.name) || addRun(run.name, run.name === '.' ? state.folder : run.name);
    if (list.children[number] !== entry.row)
      list.insertBefore(entry.row, list.children[number] || null);
    entry.iteration.textContent = formatNumber(run.iteration, 9);
    entry.progress.textContent = run.stopped || (run.running ? 'running' : 'no longer written');
    if (entry.version !== run.version) {
      entry.curves = (await fetchJson('run?' + new URLSearchParams({name: run.name}))).curves;
      entry.version = run.version;
      changed = true;
    }
  }
  if (changed)
    redrawRuns();
}

/** Updates the list of runs every two seconds, counted from the end of the previous update. */
async function watchRuns() {
  try {
    await showRuns();
  } catch (error) {
    showMessage(error.message);
  }
  setTimeout(watchRuns, 2000);
}

function redrawRuns() {
  charts.forEach((chart) => chart.curves.clear());
  for (const [run, entry] of runEntries) {
    if (entry.on)
      for (const [name, points] of Object.entries(entry.curves)) {
        const which = name.startsWith('test') ? name.split('.')[0] + ', ' : '';
        findOrAddChart(name.startsWith('test') ? name : measureOf(name)).findOrAddCurve(run + '/' + name, run, entry.colour).points = points;
      }
  }
  charts.forEach((chart, measure) => { chart.root.hidden = !chart.curves.size; });
  scheduleDraw();
}

async function begin() {
  if (!token) {
    byId('status').textContent = 'no token';
    return showMessage('Open the URL from the log of brew-run: it contains the token.');
  }
  try {
    const state = await fetchJson('state');
    if (state.kind === 'run') {
      showRun(state);
      listen();
    } else if (state.kind === 'embedding') {
      showEmbedding(state);
      listen();
    } else {
      byId('runs').hidden = false;
      document.querySelector('.columns').classList.add('single');
      document.querySelector('.narrow').hidden = true;
      byId('net').textContent = 'Runs';
      await showRuns();
      setTimeout(watchRuns, 2000);
    }
  } catch (error) {
    byId('status').textContent = 'no connection';
    byId('status').className = 'chip lost';
    showMessage(error.message);
  }
}
