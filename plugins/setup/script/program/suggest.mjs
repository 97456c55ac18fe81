// Suggests a name for one that was mistyped.

/**
 * The first name of the most similar row; undefined where none is similar. A name with few other letters precedes one that
 * contains the wanted text.
 */
export function findSimilar(wanted, rows) {
  const text = wanted.toLowerCase().slice(0, 100);
  const bound = Math.min(Math.max(2, Math.floor(text.length / 3)), text.length - 1);
  let nearest = bound + 2;
  let similar;
  for (const row of rows) {
    for (const name of row) {
      let far = distance(text, name.toLowerCase());
      if (far > bound) far = text.length > 2 && name.toLowerCase().includes(text) ? bound + 1 : bound + 2;
      if (far < nearest) [nearest, similar] = [far, row[0]];
    }
  }
  return similar;
}

/** The Levenshtein distance. */
function distance(one, other) {
  const row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    let above = row[0];
    row[0] = i;
    for (let j = 1; j <= other.length; j += 1) {
      const next = Math.min(row[j] + 1, row[j - 1] + 1, above + (one[i - 1] === other[j - 1] ? 0 : 1));
      above = row[j];
      row[j] = next;
    }
  }
  return row[other.length];
}
