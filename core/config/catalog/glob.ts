/** Compiles a pattern for whole names in which `*` matches any characters. Matching takes linear time, without backtracking. */
export function glob(pattern: string): (name: string) => boolean {
  const [head = '', ...others] = pattern.split('*');
  const tail = others.pop();
  if (tail === undefined) return (name) => name === head;
  return (name) => {
    const end = name.length - tail.length;
    if (end < head.length || !name.startsWith(head) || !name.endsWith(tail)) return false;
    // The first match leaves the most text for the parts after it.
    let index = head.length;
    for (const part of others) {
      const at = name.indexOf(part, index);
      if (at === -1) return false;
      index = at + part.length;
    }
    return index <= end;
  };
}
