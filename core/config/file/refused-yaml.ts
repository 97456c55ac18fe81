import { type Document, isPair, isScalar, type Node, type Pair, Scalar, visit, type YAMLMap } from 'yaml';
import type { YamlPath } from '../section.ts';
import { findLineMistake, slashComment } from './line-mistake.ts';
import type { TextMistake } from './source-mistakes.ts';
import { readPath } from './yaml-places.ts';

interface NodeMistake extends TextMistake {
  readonly path: YamlPath;
}

/** Finds YAML that is valid, but most likely a mistake in gateway.yaml. */
export function findRefusedYaml(document: Document.Parsed, text: string): NodeMistake[] {
  const mistakes: NodeMistake[] = [];
  const anchors = new Set<string>();
  const report = (node: Node, ancestors: readonly unknown[], wrong: string, right: string) =>
    mistakes.push({ offset: node.range?.[0] ?? 0, path: readPath(ancestors, node), wrong, right });
  visit(document, {
    Node: (_key, node, ancestors) => {
      if (!('anchor' in node) || node.anchor === undefined) return;
      anchors.add(node.anchor);
      const right = 'remove it and write the value where it is used';
      report(node, ancestors, `has an anchor (&${node.anchor})`, right);
    },
  });
  visit(document, {
    Alias: (_key, node, ancestors) => {
      const [wrong, right] = anchors.has(node.source)
        ? [`refers to an anchor (*${node.source})`, 'write the value out']
        : ['begins with *, which refers to an anchor in YAML', `put it in quotes: "*${node.source}"`];
      report(node, ancestors, wrong, right);
    },
    Pair: (_key, pair, ancestors) => {
      if (isScalar(pair.key) && pair.key.value === '<<')
        report(pair.key as Node, ancestors, 'merges another map', 'write the keys out');
    },
    Map: (_key, map, ancestors) => {
      for (const { node, pair, digits } of findSplitNumbers(map))
        report(node, [...ancestors, map, pair], 'has a comma inside a number', `write ${digits}`);
    },
    Scalar: (_key, node, ancestors) => {
      const mistake =
        findUnstorableMistake(node) ?? (node.type === Scalar.PLAIN ? findPlainMistake(node, text) : undefined);
      if (mistake !== undefined) mistakes.push({ path: readPath(ancestors, node), ...mistake });
    },
  });
  for (const { code, pos } of document.warnings)
    if (code === 'TAG_RESOLVE_FAILED')
      mistakes.push({ offset: pos[0], path: [], wrong: 'has an unknown tag (!)', right: 'remove the tag' });
  return mistakes;
}

function findUnstorableMistake({ value, range }: Scalar): TextMistake | undefined {
  if (typeof value !== 'string') return undefined;
  // PostgreSQL would reject any row with these characters. In quotes, they can be written as escapes.
  const offset = range?.[0] ?? 0;
  if (value.includes('\0'))
    return { offset, wrong: 'has a NUL character (\\0), which text cannot contain', right: 'remove it' };
  if (!value.isWellFormed())
    return { offset, wrong: 'has half of a surrogate pair (\\uD800 to \\uDFFF)', right: 'write the character itself' };
  return undefined;
}

function findPlainMistake({ source = '', value, range }: Scalar, text: string): TextMistake | undefined {
  const [start = 0, end = 0] = range ?? [];
  if (/^[“”„‟‘’‚‛«»]/.test(source))
    return {
      offset: start,
      wrong: `begins with a typographic quote (${source[0]}), which is part of the text`,
      right: 'use straight quotes: "…"',
    };
  const groups = /^(\d{1,3})((?:\.\d{3})+)$/.exec(source);
  if (groups !== null && typeof value === 'number' && Number.isInteger(value))
    return {
      offset: start,
      wrong: `is ${source}, which YAML reads as ${value}`,
      right: `write ${source.replaceAll('.', '')}, or ${value}`,
    };
  const lineEnd = text.slice(start, end).search(/\r?\n/);
  const comment = /\s\/\/(?:\s|$)/.exec(lineEnd === -1 ? source : text.slice(start, start + lineEnd));
  if (comment !== null)
    return {
      offset: start + comment.index + 1,
      wrong: slashComment[0],
      right: `${slashComment[1]}, or put the value in quotes`,
    };
  if (lineEnd === -1) return undefined;
  const continuation = text.slice(start + lineEnd, end);
  const [wrong, right] = findLineMistake(continuation.trimStart().split('\n')[0] ?? '') ?? [
    'continues the value of the line above',
    'write "key: value" for a separate key, or put a text of several lines in quotes',
  ];
  return { offset: start + lineEnd + (continuation.length - continuation.trimStart().length), wrong, right };
}

function findSplitNumbers(map: YAMLMap): { pair: Pair; node: Node; digits: string }[] {
  // YAML parses the digits after the comma as keys without a value.
  return map.items.flatMap((pair, index) => {
    if (!isScalar(pair.value) || typeof pair.value.value !== 'number') return [];
    const followingPairs = map.items.slice(index + 1);
    const end = followingPairs.findIndex((next) => !isThousandsGroup(next));
    const groups = (end === -1 ? followingPairs : followingPairs.slice(0, end)).map(
      ({ key }) => (key as Scalar).source,
    );
    if (groups.length === 0) return [];
    return [{ pair, node: pair.value, digits: [pair.value.source, ...groups].join('') }];
  });
}

function isThousandsGroup(pair: unknown): boolean {
  if (!isPair(pair) || !isScalar(pair.key)) return false;
  const isEmpty = pair.value === null || (isScalar(pair.value) && pair.value.value === null);
  return isEmpty && /^\d{3}$/.test(pair.key.source ?? '');
}
