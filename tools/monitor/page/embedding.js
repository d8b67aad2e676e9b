// --- Samples in a plane -----------------------------------------------------

let samples = null, layout = null;
const kClassColours = [...kColours, '#8b5a2b', '#9cc432'];
/// Further classes get hues around the colour circle.
function colourOfClass(number) {
  if (number < 0)
    return '#8a8f96';
  return number < kClassColours.length ? kClassColours[number] : `hsl(${number * 137.5 % 360} 62% ${45 + number % 3 * 8}%)`;
}
const nameOfClass = (number) => (samples.class_names || [])[number] || String(number);

/// Returns the positions of the points on the canvas.
function canvasPositions(canvas) {
  const width = canvas.clientWidth, height = canvas.clientHeight, scale = Math.min(width, height) / 2 - 8;
  return layout.points.map(([x, y]) => [width / 2 + x * scale, height / 2 - y * scale]);
}

function drawLayout() {
  const canvas = byId('layout'), ratio = devicePixelRatio || 1;
  if (!layout || !canvas.clientWidth)
    return;
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = canvas.clientHeight * ratio;
  const pen = canvas.getContext('2d'), size = layout.points.length > 5000 ? 2 : layout.points.length > 500 ? 3 : 5;
  pen.scale(ratio, ratio);
  pen.globalAlpha = .75;
  canvasPositions(canvas).forEach(([x, y], i) => {
    pen.fillStyle = colourOfClass(samples.classes[i]);
    pen.fillRect(x - size / 2, y - size / 2, size, size);
  });
}

function showSamples() {
  byId('net').textContent = samples.net || 'Net';
  const legend = byId('layoutlegend');
  legend.replaceChildren();
  for (const number of [...new Set(samples.classes)].sort((a, b) => a - b)) {
    const entry = addElement('span', legend);
    addElement('i', entry, undefined, 'swatch').style.background = colourOfClass(number);
    entry.append(number < 0 ? 'no class' : nameOfClass(number));
  }
}

function showLayout(message) {
  if (!message)
    return;
  layout = message;
  finished = message.finished;
  byId('status').textContent = finished ? 'finished' : 'running';
  byId('status').className = 'chip ' + (finished ? '' : 'running');
  byId('progress').style.width = message.iterations ? 100 * message.iteration / message.iterations + '%' : finished ? '100%' : 0;
  byId('layoutnote').textContent = (message.iterations ?
      'iteration ' + formatNumber(message.iteration, 9) + ' of ' + formatNumber(message.iterations, 9) : '') +
      (message.divergence === null ? '' : ', KL divergence ' + formatNumber(message.divergence)) +
      (message.points.length < samples.samples ? '; ' + formatNumber(message.points.length, 9) + ' of ' +
          formatNumber(samples.samples, 9) + ' samples are shown' : '');
  byId('layout').dataset.iteration = message.iteration;
  if (message.divergence !== null)
    addPoint('KL divergence', message.iteration, message.divergence);
  drawLayout();
  scheduleDraw();
}

async function handleLayout(message) {
  if (!samples.samples) { // no features yet
    samples = await fetchJson('state');
    showSamples();
  }
  showLayout(message);
}

function showPointTip(event) {
  const tip = byId('layouttip');
  tip.hidden = true;
  if (!layout)
    return;
  let nearestDistance = 10, nearest = -1;
  canvasPositions(byId('layout')).forEach(([x, y], i) => {
    const distance = Math.hypot(x - event.offsetX, y - event.offsetY);
    if (distance < nearestDistance)
      [nearestDistance, nearest] = [distance, i];
  });
  if (nearest < 0)
    return;
  const number = samples.classes[nearest];
  tip.textContent = samples.names[nearest] + (number < 0 ? '' : ': ' + nameOfClass(number));
  tip.hidden = false;
  tip.style.left = Math.max(0, Math.min(event.offsetX + 12, byId('layout').clientWidth - tip.offsetWidth)) + 'px';
  tip.style.top = event.offsetY + 16 + 'px';
}

function showEmbedding(state) {
  samples = state;
  for (const id of ['layoutcard', 'progressbar'])
    byId(id).hidden = false;
  byId('curves').hidden = state.method !== 't-SNE';
  document.querySelector('.columns').classList.add('single');
  document.querySelector('.narrow').hidden = true;
  document.title = state.blob + ' – Brew monitor';
  byId('layoutof').textContent = state.blob + ', ' + state.method;
  byId('status').textContent = 'computing features';
  byId('status').className = 'chip running';
  showCurves(state.curves);
  if (state.samples)
    showSamples();
  showLayout(state.layout);
  byId('layout').addEventListener('pointermove', showPointTip);
  byId('layout').addEventListener('pointerleave', () => { byId('layouttip').hidden = true; });
  addEventListener('resize', drawLayout);
}

