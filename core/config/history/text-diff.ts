import { diff } from 'node:util';

const contextLines = 3;

interface Line {
  readonly mark: ' ' | '+' | '-';
  readonly text: string;
}

/** Returns the line diff of two texts with some context; empty if they are equal. */
export function diffLines(before: string, after: string): string[] {
  const lines = linesOf(before, after);
  const isNear = (index: number) =>
    lines.slice(Math.max(0, index - contextLines), index + contextLines + 1).some(({ mark }) => mark !== ' ');
  const shown: string[] = [];
  let isGap = false;
  for (const [index, { mark, text }] of lines.entries()) {
    if (isNear(index)) {
      if (isGap && shown.length > 0) shown.push('  …');
      shown.push(`${mark} ${text}`.trimEnd());
      isGap = false;
    } else isGap = true;
  }
  return shown;
}

function same(lines: readonly string[]): Line[] {
  return lines.map((text) => ({ mark: ' ', text }));
}

/** Skips common lines at both ends, because the comparison takes quadratic time. */
function linesOf(before: string, after: string): Line[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const maxLength = Math.min(old.length, now.length);
  let head = 0;
  while (head < maxLength && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < maxLength - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const [gone, come] = [old.slice(head, old.length - tail), now.slice(head, now.length - tail)];
  // `diff` does not accept an empty list.
  const isOneSided = gone.length === 0 || come.length === 0;
  const sides = [...gone.map((text) => [1, text] as const), ...come.map((text) => [-1, text] as const)];
  const changed = isOneSided ? sides : (diff(gone, come) as [number, string][]);
  return [
    ...same(old.slice(0, head)),
    ...changed.map(([kind, text]): Line => ({ mark: kind === 0 ? ' ' : kind > 0 ? '-' : '+', text })),
    ...same(old.slice(old.length - tail)),
  ];
}
