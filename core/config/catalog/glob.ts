/** Compiles a pattern for whole names, in which `*` matches any characters. Matching takes linear time: it never backtracks. */
export function compileGlob(pattern: string): (name: string) => boolean {
  const [head = '', ...innerParts] = pattern.split('*');
  const tail = innerParts.pop();
  if (tail === undefined) return (name) => name === head;
  return (name) => {
    const end = name.length - tail.length;
    if (end < head.length || !name.startsWith(head) || !name.endsWith(tail)) return false;
    // Taking the first match leaves as much text as possible for the parts that follow.
    let index = head.length;
    for (const part of innerParts) {
      const found = name.indexOf(part, index);
      if (found === -1) return false;
      index = found + part.length;
    }
    return index <= end;
  };
}
