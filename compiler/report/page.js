'use strict';
(() => {
const data = JSON.parse(document.getElementById('data').textContent);
const byId = (id) => document.getElementById(id);
const namespace = byId('svg').namespaceURI;
const measureContext = document.createElement('canvas').getContext('2d');
const kFont = '12px system-ui, sans-serif', kSmallFont = '10.5px system-ui, sans-serif';
// Node sizes in pixels.
const kHeight = 38, kMaxWidth = 230, kRowGap = 34, kColumnGap = 14, kPadding = 9;
/// Smallest scale: wider nets scroll.
const kMinScale = .8;

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

function textWidth(text, font) {
  measureContext.font = font;
  return measureContext.measureText(text).width;
}

/// Returns `text`, shortened in the middle if it is too wide.
function shortenToWidth(text, font, width) {
  if (textWidth(text, font) <= width)
    return text;
  let keep = text.length;
  const cut = () =>
      text.slice(0, Math.ceil(keep * .6)) + '…' + text.slice(text.length - Math.floor(keep * .4));
  while (keep > 4 && textWidth(cut(), font) > width)
    --keep;
  return cut();
}

// --- Layered graph layout ---------------------------------------------------
// Nodes get ranks by their longest path from a source; an edge over several ranks
// has a bend in each. Ranks are ordered by the mean position of neighbours, then
// every item moves as close to its neighbours as the order allows.

/// Returns the rank of each node; `edges` go from lower to higher numbers.
function ranksOf(nodes, edges) {
  const rank = new Map(nodes.map((node) => [node, 0]));
  const next = new Map(nodes.map((node) => [node, []]));
  const hasInput = new Set();
  for (const edge of edges) {
    next.get(edge.from).push(edge.to);
    hasInput.add(edge.to);
  }
  for (const node of nodes)
    for (const to of next.get(node))
      rank.set(to, Math.max(rank.get(to), rank.get(node) + 1));
  // Place a source just above its first consumer.
  for (const node of nodes)
    if (!hasInput.has(node) && next.get(node).length)
      rank.set(node, Math.max(0, Math.min(...next.get(node).map((to) => rank.get(to))) - 1));
  // Unconnected nodes fill rows below the rest.
  const isolated = nodes.filter((node) => !hasInput.has(node) && !next.get(node).length);
  const firstRow = isolated.length < nodes.length ? Math.max(...rank.values()) + 1 : 0;
  const nodesPerRow = Math.max(2, Math.ceil(Math.sqrt(isolated.length / 3)));
  isolated.forEach((node, i) => rank.set(node, firstRow + Math.floor(i / nodesPerRow)));
  return rank;
}

/// Returns positions with the least weighted squared distance to `wanted` that keep the order and
/// widths of the items (isotonic regression).
function spread(items, wanted) {
  const starts = [];
  items.forEach((item, i) => starts.push(
      i ? starts[i - 1] + (items[i - 1].width + item.width) / 2 + kColumnGap : 0));
  const blocks = [];
  items.forEach((item, i) => {
    let block = {sum: (wanted[i] - starts[i]) * item.weight, weight: item.weight, count: 1};
    const offsetOf = (other) => other.sum / other.weight;
    while (blocks.length && offsetOf(blocks[blocks.length - 1]) > offsetOf(block)) {
      const last = blocks.pop();
      block = {sum: block.sum + last.sum, weight: block.weight + last.weight, count: block.count + last.count};
    }
    blocks.push(block);
  });
  return blocks.flatMap((block) => Array(block.count).fill(block.sum / block.weight))
      .map((offset, i) => offset + starts[i]);
}

/// Sets the positions of `nodes` and the bends of `edges`; returns the width.
function layOut(nodes, edges) {
  const rank = ranksOf(nodes, edges);
  const rows = [];
  const addToRow = (item) => (rows[item.rank] = rows[item.rank] || []).push(item);
  const itemOf = new Map();
  for (const node of nodes) {
    const created = {node, rank: rank.get(node), width: node.width, up: [], down: [], x: 0};
    itemOf.set(node, created);
    addToRow(created);
  }
  const link = (from, to) => {
    from.down.push(to);
    to.up.push(from);
  };
  for (const edge of edges) {
    let from = itemOf.get(edge.from);
    const to = itemOf.get(edge.to);
    edge.bends = [];
    for (let r = from.rank + 1; r < to.rank; ++r) {
      const bend = {rank: r, width: 8, up: [], down: [], x: 0};
      addToRow(bend);
      edge.bends.push(bend);
      link(from, bend);
      from = bend;
    }
    link(from, to);
  }
  for (let r = 0; r < rows.length; ++r)
    rows[r] = rows[r] || [];
  const setOrders = (row) => row.forEach((item, i) => item.order = i);
  rows.forEach(setOrders);
  const mean = (list, key, fallback) =>
      list.length ? list.reduce((sum, item) => sum + item[key], 0) / list.length : fallback;
  const sweep = (visit) => {
    for (let r = 1; r < rows.length; ++r)
      visit(rows[r], 'up');
    for (let r = rows.length - 2; r >= 0; --r)
      visit(rows[r], 'down');
  };
  for (let i = 0; i < 8; ++i)
    sweep((row, side) => {
      row.forEach((item) => item.wantedOrder = mean(item[side], 'order', item.order));
      row.sort((a, b) => a.wantedOrder - b.wantedOrder);
      setOrders(row);
    });
  // Straight paths matter more than the positions of end nodes or bends, which would otherwise push
  // other items aside in row after row.
  rows.flat().forEach((item) =>
      item.weight = !item.node ? .02 : item.up.length && item.down.length ? 1 : .05);
  const weightedMean = (list, fallback) => {
    let sum = 0, weight = 0;
    for (const item of list) {
      sum += item.weight * item.x;
      weight += item.weight;
    }
    return weight ? sum / weight : fallback;
  };
  const placeRow = (row, targets) => spread(row, targets).forEach((x, i) => row[i].x = x);
  rows.forEach((row) => placeRow(row, row.map(() => 0)));
  for (let i = 0; i < 6; ++i)
    sweep((row, side) => placeRow(row, row.map((item) => weightedMean(item[side], item.x))));
  // Move items back that one row pushed far aside.
  for (let i = 0; i < 20; ++i)
    sweep((row) => placeRow(
        row, row.map((item) => weightedMean([...item.up, ...item.down], item.x))));
  const linked = rows.flat().filter((item) => item.up.length + item.down.length);
  const isLinked = new Set(linked);
  const center = mean(linked, 'x', 0);
  for (const row of rows)
    if (row.length && !row.some((item) => isLinked.has(item)))
      placeRow(row, row.map(() => center));
  for (const item of itemOf.values()) {
    item.node.x = item.x;
    item.node.y = item.rank * (kHeight + kRowGap) + kHeight / 2;
  }
  let left = Infinity, right = -Infinity;
  for (const item of rows.flat()) {
    left = Math.min(left, item.x - item.width / 2);
    right = Math.max(right, item.x + item.width / 2);
  }
  for (const node of nodes)
    node.x -= left;
  for (const edge of edges)
    edge.bends = edge.bends.map((bend) => (
        {x: bend.x - left, y: bend.rank * (kHeight + kRowGap) + kHeight / 2}));
  return right - left;
}

/// Returns the SVG path of an edge down through its bends.
function edgePath(edge) {
  let x = edge.from.x, y = edge.from.y + kHeight / 2;
  let path = `M${x},${y}`;
  const to = (nextX, nextY) => {
    const middle = (y + nextY) / 2;
    path += `C${x},${middle} ${nextX},${middle} ${nextX},${nextY}`;
    [x, y] = [nextX, nextY];
  };
  for (const bend of edge.bends) {
    to(bend.x, bend.y - kHeight / 2);
    path += `L${bend.x},${bend.y + kHeight / 2}`;
    y = bend.y + kHeight / 2;
  }
  to(edge.to.x, edge.to.y - kHeight / 2);
  return path;
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

class Graph {
  constructor(id, title, graph, onChoose) {
    this.box = byId(id);
    this.box.replaceChildren();
    this.nodes = graph ? graph.nodes : [];
    this.addTitle(byId(id + '-title'), title);
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

  addTitle(caption, title) {
    caption.replaceChildren();
    addElement('span', caption, `${title} (${this.nodes.length})`);
    for (const [text, label, factor] of [['−', 'Smaller', .8], ['+', 'Larger', 1.25], ['Fit', 'Fit', 0]]) {
      const button = addElement('button', caption, text);
      button.setAttribute('aria-label', label);
      button.onclick = () => this.scale && this.zoom(factor ? this.scale * factor : this.fit());
    }
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
      const width = layOut(nodes, edges);
      nodes.forEach((node) => node.x += left);
      edges.forEach((edge) => edge.bends.forEach((bend) => bend.x += left));
      left += width + 80;
    }
    this.width = left - 80;
    this.height = Math.max(...this.nodes.map((node) => node.y)) + kHeight / 2;
  }

  render(onChoose) {
    const margin = 14;
    this.svg = draw('svg', {
      viewBox: `${-margin} ${-margin} ${this.width + 2 * margin} ${this.height + 2 * margin}`,
      role: 'img', 'aria-label': 'Graph of the net'}, this.box);
    for (const edge of this.edges) {
      edge.line = draw('path', {
        class: edge.isCross ? 'edge cross' : 'edge',
        d: edge.isCross ? crossEdgePath(edge.from, edge.to) : edgePath(edge)}, this.svg);
      draw('title', {}, edge.line, `${edge.from.name} → ${edge.to.name}: ${edge.shape}, ${edge.bytes}`);
    }
    for (const node of this.nodes) {
      const group = node.group = draw('g', {
        class: 'node ' + node.kind, tabindex: 0,
        transform: `translate(${node.x - node.width / 2},${node.y - kHeight / 2})`}, this.svg);
      draw('title', {}, group, node.layers.length ? node.layers.join(', ') : node.name);
      const round = node.kind === 'data' || node.kind === 'output' ? kHeight / 2 : 5;
      draw('rect', {width: node.width, height: kHeight, rx: round}, group);
      draw('text', {x: node.width / 2, y: 16, 'text-anchor': 'middle'}, group, node.label);
      draw('text', {x: node.width / 2, y: 31, 'text-anchor': 'middle', class: 'small'}, group, node.lower);
      group.onclick = () => onChoose(this, node);
      group.onkeydown = (event) => {
        if (event.key !== 'Enter' && event.key !== ' ')
          return;
        event.preventDefault();
        onChoose(this, node);
      };
    }
    this.zoom(Math.max(kMinScale, this.fit()));
  }

  fit() {
    return Math.min(1, (this.box.clientWidth - 20) / (this.width + 28));
  }

  zoom(scale) {
    this.scale = Math.min(3, Math.max(.1, scale));
    this.svg.setAttribute('width', (this.width + 28) * this.scale);
    this.svg.setAttribute('height', (this.height + 28) * this.scale);
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
    const y = (node.y + 14) * this.scale - this.box.clientHeight / 2;
    const x = (node.x + 14) * this.scale - this.box.clientWidth / 2;
    this.box.scrollTo({top: y, left: x});
  }
}

/// Shows details of a node.
function describe(graph, node) {
  const box = byId('chosen');
  box.replaceChildren();
  addElement('strong', box, node.name);
  box.append(` ${node.type}${node.backward ? ', backward' : ''}${node.time ? ', ' + node.time : ''}`);
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
