import { diff } from 'node:util';

const contextLines = 3;

interface Line {
  readonly mark: ' ' | '+' | '-';
  readonly text: string;
}

/** Returns a line diff of two texts, with some context; empty if they are equal. */
export function diffLines(before: string, after: string): string[] {
  const lines = compareLines(before, after);
  const isNear = (index: number) =>
    lines.slice(Math.max(0, index - contextLines), index + contextLines + 1).some(({ mark }) => mark !== ' ');
  const output: string[] = [];
  let isGap = false;
  for (const [index, { mark, text }] of lines.entries()) {
    if (isNear(index)) {
      if (isGap && output.length > 0) output.push('  …');
      output.push(`${mark} ${text}`.trimEnd());
      isGap = false;
    } else {
      isGap = true;
    }
  }
  return output;
}

function toMark(kind: number): Line['mark'] {
  if (kind === 0) return ' ';
  return kind > 0 ? '-' : '+';
}

function toUnchangedLines(lines: readonly string[]): Line[] {
  return lines.map((text) => ({ mark: ' ', text }));
}

function compareLines(before: string, after: string): Line[] {
  // Skips common lines at both ends, because the comparison takes quadratic time.
  const [oldLines, newLines] = [before.split('\n'), after.split('\n')];
  const maxLength = Math.min(oldLines.length, newLines.length);
  let prefixLength = 0;
  while (prefixLength < maxLength && oldLines[prefixLength] === newLines[prefixLength]) prefixLength++;
  let suffixLength = 0;
  while (suffixLength < maxLength - prefixLength && oldLines.at(-1 - suffixLength) === newLines.at(-1 - suffixLength))
    suffixLength++;
  const [removed, added] = [
    oldLines.slice(prefixLength, oldLines.length - suffixLength),
    newLines.slice(prefixLength, newLines.length - suffixLength),
  ];
  // `diff` does not accept an empty list.
  const isOneSided = removed.length === 0 || added.length === 0;
  const changes = [...removed.map((text) => [1, text] as const), ...added.map((text) => [-1, text] as const)];
  const orderedChanges = isOneSided ? changes : (diff(removed, added) as [number, string][]);
  return [
    ...toUnchangedLines(oldLines.slice(0, prefixLength)),
    ...orderedChanges.map(([kind, text]): Line => ({ mark: toMark(kind), text })),
    ...toUnchangedLines(oldLines.slice(oldLines.length - suffixLength)),
  ];
}
