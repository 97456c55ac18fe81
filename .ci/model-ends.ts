import { modelEnds } from '../core/config/catalog/model-ends.ts';

export interface EndingSample {
  readonly name: string; // as the sample spells it: `claude-sonnet-4.5` in `anthropic/claude-sonnet-4.5`
  readonly line: number; // from 1
  readonly day: string; // first day (UTC) without the model
  readonly page: string;
  readonly hasEnded: boolean;
}

const noticeDays = 60; // before a model's end
const millisecondsPerDay = 86_400_000;

const spelling = (name: string) => name.replace(/[.-]/g, '[.-]'); // some vendors write 4.5 as 4-5, others 4-5 as 4.5
/** Dated snapshots: `-2025-08-07` at OpenAI, `-20250929` at Anthropic, `@20250929` on Vertex, `-20250929-v1:0` on Bedrock. */
const snapshot = /(?:-\d{4}-\d\d-\d\d|[-@]\d{8}(?:-v\d+(?::\d+)?)?)?/.source;
const byKey = new Map([...modelEnds].map(([model, end]) => [keyOf(model), end]));
/**
 * Longer names come first, because `gpt-5-mini` begins with `gpt-5`. Matches neither a longer name (`gpt-5.2`, `my-gpt-5`) nor a pattern
 * (`gpt-5*`).
 */
const anyName = new RegExp(
  `(?<![\\w-])(${[...modelEnds.keys()]
    .toSorted((one, other) => other.length - one.length)
    .map(spelling)
    .join('|')})${snapshot}(?![\\w@-]|\\.\\d|\\.?\\*)`,
  'g',
);

/** @param today such as `2026-11-28` */
export function findEnding(text: string, today: string): EndingSample[] {
  const lastDay = new Date(Date.parse(today) + noticeDays * millisecondsPerDay).toISOString().slice(0, 10);
  return text.split('\n').flatMap((line, index) =>
    [...line.matchAll(anyName)].flatMap(([, name = '']) => {
      const end = byKey.get(keyOf(name));
      if (end === undefined || end.day > lastDay) return [];
      return [{ name, line: index + 1, ...end, hasEnded: end.day <= today }];
    }),
  );
}

function keyOf(model: string): string {
  return model.replaceAll('.', '-');
}
