// --- Drawings that scroll and zoom ------------------------------------------

/// Smallest scale at which text of 12 pixels is readable.
const kReadableScale = 11 / 12;

/// Shows a drawing in a box that scrolls. Zooms it with buttons and with the wheel while Ctrl is
/// pressed; dragging with the mouse scrolls. Touch screens scroll and zoom by themselves.
class ScrollingBox {
  /// Adds the buttons to `tools`.
  constructor(box, tools) {
    this.box = box;
    this.svg = null;
    for (const [text, label, action] of [
      ['−', 'Smaller', () => this.zoom(this.scale / 1.25)],
      ['+', 'Larger', () => this.zoom(this.scale * 1.25)],
      ['Fit', 'Fit the width, as far as text is readable', () => this.fit()]]) {
      const button = document.createElement('button');
      button.textContent = text;
      button.title = label;
      button.setAttribute('aria-label', label);
      button.onclick = () => this.svg && action();
      tools.append(button);
    }
    box.addEventListener('wheel', (event) => {
      if (!event.ctrlKey || !this.svg)
        return;
      event.preventDefault();
      const place = box.getBoundingClientRect();
      this.zoom(this.scale * Math.exp(-event.deltaY / 500), event.clientX - place.left, event.clientY - place.top);
    }, {passive: false});
    this.scrollByDragging();
    // The box stays fitted to its window until the user looks at another part of the drawing.
    for (const use of ['pointerdown', 'wheel', 'keydown'])
      box.addEventListener(use, () => { this.isFitted = false; }, {passive: true});
    new ResizeObserver(() => this.svg && this.isFitted && this.fit()).observe(box);
  }

  scrollByDragging() {
    const {box} = this;
    let last = null, isDragging = false;
    box.addEventListener('pointerdown', (event) => {
      const place = box.getBoundingClientRect();
      const isOnScrollbar = event.clientX - place.left - box.clientLeft >= box.clientWidth
        || event.clientY - place.top - box.clientTop >= box.clientHeight;
      if (event.pointerType === 'mouse' && event.button === 0 && !isOnScrollbar)
        last = [event.clientX, event.clientY];
    });
    box.addEventListener('pointermove', (event) => {
      if (!last)
        return;
      const moved = [event.clientX - last[0], event.clientY - last[1]];
      if (!isDragging && Math.hypot(...moved) < 5)
        return; // a click
      if (!isDragging)
        box.setPointerCapture(event.pointerId);
      isDragging = true;
      box.scrollBy(-moved[0], -moved[1]);
      last = [event.clientX, event.clientY];
    });
    for (const end of ['pointerup', 'pointercancel', 'pointerleave'])
      box.addEventListener(end, () => {
        last = null;
        isDragging = false;
      });
  }

  /// Shows a drawing of the given size in pixels; first the part around `start`, a point on it.
  show(svg, width, height, start) {
    Object.assign(this, {svg, width, height, start});
    this.fit();
  }

  fit() {
    this.setScale(Math.min(1, Math.max(kReadableScale, this.box.clientWidth / this.width)));
    this.center(this.start);
    this.isFitted = true;
  }

  /// Zooms, keeping the drawing's point at x and y of the box in place (default: the middle).
  zoom(scale, x = this.box.clientWidth / 2, y = this.box.clientHeight / 2) {
    const {box} = this, before = this.scale;
    const left = box.scrollLeft + x, top = box.scrollTop + y;
    this.setScale(Math.min(3, Math.max(.1, scale)));
    this.isFitted = false;
    box.scrollTo(left * this.scale / before - x, top * this.scale / before - y);
  }

  /// Scrolls so that a point of the drawing is in the middle.
  center(point) {
    this.isFitted = false;
    this.box.scrollTo(point.x * this.scale - this.box.clientWidth / 2,
                      point.y * this.scale - this.box.clientHeight / 2);
  }

  setScale(scale) {
    this.scale = scale;
    this.svg.setAttribute('width', this.width * scale);
    this.svg.setAttribute('height', this.height * scale);
  }
}

