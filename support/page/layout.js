// --- Text -------------------------------------------------------------------

const measureContext = document.createElement('canvas').getContext('2d');

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
// Both pages that draw nets contain this file: the report of brewc and the monitor of brew-run.
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
/// widths of the items (isotonic regression), `gap` pixels apart.
function spread(items, wanted, gap) {
  const starts = [];
  items.forEach((item, i) => starts.push(
      i ? starts[i - 1] + (items[i - 1].width + item.width) / 2 + gap : 0));
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

/// Sets the centres of `nodes` and the bends of `edges`, in pixels; returns the width.
/// Each node has a `width`. `sizes` contains the `height` of nodes and the gaps between them,
/// `rowGap` and `columnGap`.
function layOut(nodes, edges, sizes) {
  const {height, rowGap, columnGap} = sizes;
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
  const placeRow = (row, targets) => spread(row, targets, columnGap).forEach((x, i) => row[i].x = x);
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
    item.node.y = item.rank * (height + rowGap) + height / 2;
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
        {x: bend.x - left, y: bend.rank * (height + rowGap) + height / 2}));
  return right - left;
}

/// Returns the SVG path of an edge down through its bends; `height` is that of the nodes.
function edgePath(edge, height) {
  let x = edge.from.x, y = edge.from.y + height / 2;
  let path = `M${x},${y}`;
  const to = (nextX, nextY) => {
    const middle = (y + nextY) / 2;
    path += `C${x},${middle} ${nextX},${middle} ${nextX},${nextY}`;
    [x, y] = [nextX, nextY];
  };
  for (const bend of edge.bends) {
    to(bend.x, bend.y - height / 2);
    path += `L${bend.x},${bend.y + height / 2}`;
    y = bend.y + height / 2;
  }
  to(edge.to.x, edge.to.y - height / 2);
  return path;
}

