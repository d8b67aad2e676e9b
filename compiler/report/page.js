(() => {
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const byId = (id) => document.getElementById(id);
const namespace = byId('svg').namespaceURI;
const kFont = '13px system-ui, sans-serif', kSmallFont = '12px system-ui, sans-serif';
// Sizes of the graphs in pixels.
const kHeight = 40, kMaxWidth = 170, kPadding = 9, kMargin = 14;
const kSizes = {height: kHeight, rowGap: 32, columnGap: 14};

function draw(tag, attributes, parent, text) {
  const created = document.createElementNS(namespace, tag);
  for (const [name, value] of Object.entries(attributes))
    created.setAttribute(name, value);
  if (text !== undefined)
    created.textContent = text;
  if (parent)
    parent.append(created);
  return created;
}

function addElement(tag, parent, text) {
  const created = document.createElement(tag);
  if (text !== undefined)
    created.textContent = text;
  parent.append(created);
  return created;
}

/// Returns the SVG path from the side of one box to the side of another.
function crossEdgePath(from, to) {
  const toRight = to.x > from.x;
  const begin = from.x + (toRight ? 1 : -1) * from.width / 2;
  const end = to.x - (toRight ? 1 : -1) * to.width / 2;
  const middle = (begin + end) / 2;
  return `M${begin},${from.y}C${middle},${from.y} ${middle},${to.y} ${end},${to.y}`;
}

// --- The net ----------------------------------------------------------------

const scrollingBoxes = {};
for (const id of ['before', 'after'])
  scrollingBoxes[id] = new ScrollingBox(byId(id), byId(id + '-tools'));

class Graph {
  constructor(id, title, graph, onChoose) {
    this.box = byId(id);
    this.box.replaceChildren();
    this.scrolling = scrollingBoxes[id];
    this.scrolling.svg = null;
    this.nodes = graph ? graph.nodes : [];
    byId(id + '-title').textContent = `${title} (${this.nodes.length})`;
    if (!this.nodes.length) {
      addElement('p', this.box, 'Nothing.').className = 'note';
      return;
    }
    for (const node of this.nodes) {
      const lower = [node.type, node.time].filter(Boolean).join(', ');
      node.label = shortenToWidth(node.name, kFont, kMaxWidth);
      node.lower = shortenToWidth(lower, kSmallFont, kMaxWidth);
      node.width = Math.max(60, textWidth(node.label, kFont), textWidth(node.lower, kSmallFont)) + 2 * kPadding;
    }
    this.edges = graph.edges.map(([from, to, shape, bytes]) => (
        {from: this.nodes[from], to: this.nodes[to], shape, bytes, isCross: true}));
    this.layOutColumns();
    this.render(onChoose);
  }

  /// Lays out forward and backward nodes in one column each.
  layOutColumns() {
    const indexOf = new Map(this.nodes.map((node, i) => [node, i]));
    let left = 0;
    for (const backward of [false, true]) {
      const nodes = this.nodes.filter((node) => node.backward === backward);
      if (!nodes.length)
        continue;
      const edges = this.edges.filter((edge) =>
          edge.from.backward === backward && edge.to.backward === backward &&
          indexOf.get(edge.from) < indexOf.get(edge.to));
      edges.forEach((edge) => edge.isCross = false);
      const width = layOut(nodes, edges, kSizes);
      nodes.forEach((node) => node.x += left);
      edges.forEach((edge) => edge.bends.forEach((bend) => bend.x += left));
      left += width + 40;
    }
    this.width = left - 40;
    this.height = Math.max(...this.nodes.map((node) => node.y)) + kHeight / 2;
  }

  render(onChoose) {
    const width = this.width + 2 * kMargin, height = this.height + 2 * kMargin;
    this.svg = draw('svg', {
      viewBox: `${-kMargin} ${-kMargin} ${width} ${height}`,
      role: 'img', 'aria-label': 'Graph of the net'}, this.box);
    for (const edge of this.edges) {
      edge.line = draw('path', {
        class: edge.isCross ? 'edge cross' : 'edge',
        d: edge.isCross ? crossEdgePath(edge.from, edge.to) : edgePath(edge, kHeight)}, this.svg);
      draw('title', {}, edge.line, `${edge.from.name} → ${edge.to.name}: ${edge.shape}, ${edge.bytes}`);
    }
    for (const node of this.nodes) {
      const group = node.group = draw('g', {
        class: 'node ' + node.kind, tabindex: 0,
        transform: `translate(${node.x - node.width / 2},${node.y - kHeight / 2})`}, this.svg);
      draw('title', {}, group, node.layers.length ? node.layers.join(', ') : node.name);
      const round = node.kind === 'data' || node.kind === 'output' ? kHeight / 2 : 5;
      draw('rect', {width: node.width, height: kHeight, rx: round}, group);
      draw('text', {x: node.width / 2, y: 17, 'text-anchor': 'middle'}, group, node.label);
      draw('text', {x: node.width / 2, y: 33, 'text-anchor': 'middle', class: 'small'}, group, node.lower);
      group.onclick = () => onChoose(this, node);
      group.onkeydown = (event) => {
        if (event.key !== 'Enter' && event.key !== ' ')
          return;
        event.preventDefault();
        onChoose(this, node);
      };
    }
    this.scrolling.show(this.svg, width, height, this.pointOf(this.nodes[0]));
  }

  /// Returns the middle of a node on the drawing.
  pointOf(node) {
    return {x: node.x + kMargin, y: node.y + kMargin};
  }

  /// Highlights the chosen node, its edges and related nodes.
  mark(chosen, related) {
    for (const node of this.nodes) {
      node.group.classList.toggle('chosen', node === chosen);
      node.group.classList.toggle('related', related.includes(node));
    }
    for (const edge of this.edges || [])
      edge.line.classList.toggle('lit', chosen !== null && (edge.from === chosen || edge.to === chosen));
  }

  show(node) {
    this.scrolling.center(this.pointOf(node));
  }
}

/// Shows details of a node.
function describe(graph, node) {
  const box = byId('chosen');
  box.replaceChildren();
  addElement('strong', box, node.name);
  box.append(` ${node.type}${node.backward ? ', backward' : ''}${node.times ? ', ' + node.times : ''}`);
  if (node.layers.length && node.layers.join() !== node.name)
    addElement('p', box, 'Layers: ' + node.layers.join(', '));
  if (node.source)
    addElement('p', box, node.source);
  for (const [word, near, far] of [['Reads', 'to', 'from'], ['Writes', 'from', 'to']])
    for (const edge of graph.edges.filter((candidate) => candidate[near] === node))
      addElement('p', box, `${word} ${edge.shape}, ${edge.bytes} (${edge[far].name}${
          edge[far].backward ? ', backward' : ''})`);
  if (node.kernel === undefined)
    return;
  const link = addElement('a', addElement('p', box), 'Source of the kernel');
  link.href = '#kernel-' + node.kernel;
  link.onclick = () => openKernel(node.kernel);
}

function showNet(program) {
  byId('chosen').replaceChildren();
  let before, after;
  const choose = (graph, node) => {
    const otherGraph = graph === before ? after : before;
    const layers = new Set(node.layers);
    const sharesLayer = (candidate) => candidate.backward === node.backward &&
        candidate.layers.some((layer) => layers.has(layer));
    const related = otherGraph.nodes.filter(sharesLayer);
    graph.mark(node, []);
    otherGraph.mark(null, related);
    if (related.length)
      otherGraph.show(related[0]);
    describe(graph, node);
  };
  before = new Graph('before', 'Layers', program.before, choose);
  after = new Graph('after', 'Kernels and calls', program.after, choose);
}

// --- Memory -----------------------------------------------------------------

function bytesText(bytes) {
  let prefix = 0;
  for (; bytes >= 999.5 && prefix < 4; ++prefix)
    bytes /= 1e3;
  return `${Number(bytes.toPrecision(3))} ${['', 'k', 'M', 'G', 'T'][prefix]}B`;
}

/// Returns a hue derived from the name.
function hueOf(name) {
  let hash = 7;
  for (const letter of name)
    hash = (hash * 31 + letter.codePointAt(0)) % 9973;
  return hash % 360;
}

function showArena(program) {
  const box = byId('arena');
  box.replaceChildren();
  byId('buffer').textContent = '\u00a0';
  if (!program.arena || !program.buffers.length) {
    addElement('p', box, 'This program has no transient buffers.').className = 'note';
    return;
  }
  const left = 76, top = 8, height = 360, steps = program.steps.length;
  const width = Math.max(box.clientWidth - left - 12, 320, steps * 3);
  const x = (step) => left + step / steps * width;
  const y = (byte) => top + height - byte / program.arena * height;
  const svg = draw('svg', {width: left + width + 12, height: top + height + 30,
                           role: 'img', 'aria-label': 'Buffers of the arena over the steps'}, box);
  for (let i = 0; i <= 4; ++i) {
    const bytes = program.arena * i / 4;
    draw('line', {class: 'axis', x1: left, x2: left + width, y1: y(bytes), y2: y(bytes)}, svg);
    draw('text', {class: 'small', x: left - 8, y: y(bytes) + 4, 'text-anchor': 'end'}, svg, bytesText(Math.round(bytes)));
  }
  const labelInterval = Math.max(1, Math.ceil(steps / (width / 70)));
  for (let step = 0; step < steps; step += labelInterval)
    draw('text', {class: 'small', x: x(step + .5), y: top + height + 18, 'text-anchor': 'middle'}, svg, step);
  for (const buffer of program.buffers) {
    const w = Math.max(1.5, x(buffer.last + 1) - x(buffer.first));
    const h = Math.max(1.5, buffer.size / program.arena * height);
    const text = `${buffer.name}: ${buffer.text}, at ${buffer.offset}, steps ${buffer.first} to ${
        buffer.last}${buffer.pinned ? ', pinned' : ''}`;
    const rect = draw('rect', {class: 'buffer', x: x(buffer.first), y: y(buffer.offset) - h, width: w, height: h,
                               fill: `hsl(${hueOf(buffer.name)} 55% 55%)`}, svg);
    draw('title', {}, rect, text);
    rect.onmouseenter = () => byId('buffer').textContent =
        `${text}; written by ${program.steps[buffer.first] || 'the input'}`;
    if (h > 15 && w > 44)
      draw('text', {class: 'on', x: x(buffer.first) + 4, y: y(buffer.offset) - h / 2 + 4}, svg,
           shortenToWidth(buffer.name, kSmallFont, w - 8));
  }
}

// --- Tables and kernels -----------------------------------------------------

for (const table of document.querySelectorAll('.sortable'))
  table.querySelectorAll('th').forEach((head, column) => {
    let descending = true;
    head.onclick = () => {
      const key = (row) => {
        const cell = row.cells[column];
        return cell.dataset.value !== undefined ? Number(cell.dataset.value) : cell.textContent;
      };
      const sign = descending ? -1 : 1;
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        return sign * (typeof x === 'number' ? x - y : x.localeCompare(y, undefined, {numeric: true}));
      }));
      descending = !descending;
    };
  });

function openKernel(number) {
  const kernel = byId('kernel-' + number);
  if (kernel) {
    kernel.hidden = false;
    kernel.open = true;
  }
}

addEventListener('hashchange', () => openKernel(location.hash.slice('#kernel-'.length)));
openKernel(location.hash.slice('#kernel-'.length));

byId('search').oninput = (event) => {
  const query = event.target.value.toLowerCase();
  for (const kernel of document.querySelectorAll('.kernel'))
    kernel.hidden = !kernel.firstElementChild.textContent.toLowerCase().includes(query);
};

// --- Programs ---------------------------------------------------------------

let shownProgram = -1;

function showProgram(number) {
  shownProgram = number;
  const program = data.programs[number];
  [...byId('nav').children].forEach((button, i) => button.setAttribute('aria-pressed', i === number));
  for (const part of document.querySelectorAll('.program'))
    part.hidden = Number(part.dataset.program) !== number;
  showNet(program);
  showArena(program);
}

data.programs.forEach((program, i) => {
  addElement('button', byId('nav'), program.name).onclick = () => showProgram(i);
});
if (data.programs.length)
  showProgram(0);
let resizeTimer = 0;
addEventListener('resize', () => {
  clearTimeout(resizeTimer);
  resizeTimer = setTimeout(() => shownProgram >= 0 && showArena(data.programs[shownProgram]), 150);
});
})();
