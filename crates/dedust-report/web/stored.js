// What the browser keeps from visit to visit. A file that is opened from disk, or a browser that was told so, may keep nothing.

// The text that `area` (`localStorage` or `sessionStorage`) has under a name; with a value, keeps that.
export function stored(area, name, value) {
  try {
    if (value === undefined) return window[area].getItem(name);
    window[area].setItem(name, value);
  } catch {
    // Nothing is kept.
  }
  return null;
}
