import { modelEnds } from '../core/config/catalog/model-ends.ts';

/** A model in a sample that its vendor has ended, or will. */
export interface EndingSample {
  /** As it is written in the sample: `anthropic/claude-sonnet-4.5` has `claude-sonnet-4.5`. */
  readonly name: string;
  /** From 1. */
  readonly line: number;
  /** The first day (UTC) without the model. */
  readonly day: string;
  readonly page: string;
  readonly hasEnded: boolean;
}

/** Days before the end of a model from which samples with it are reported. */
const noticeDays = 60;
const millisecondsPerDay = 86_400_000;

/** Some vendors write 4.5 as 4-5, and some the other way round. */
const spelling = (name: string) => name.replace(/[.-]/g, '[.-]');
/** Dated snapshots: `-2025-08-07` of OpenAI, `-20250929` of Anthropic, `@20250929` of Vertex, `-20250929-v1:0` of Bedrock. */
const snapshot = /(?:-\d{4}-\d\d-\d\d|[-@]\d{8}(?:-v\d+(?::\d+)?)?)?/.source;
const byKey = new Map([...modelEnds].map(([model, end]) => [keyOf(model), end]));
/** Longer names first, since `gpt-5` begins `gpt-5-mini`. Neither a longer name (`gpt-5.2`, `my-gpt-5`) nor a pattern (`gpt-5*`). */
const anyName = new RegExp(
  `(?<![\\w-])(${[...modelEnds.keys()]
    .toSorted((one, other) => other.length - one.length)
    .map(spelling)
    .join('|')})${snapshot}(?![\\w@-]|\\.\\d|\\.?\\*)`,
  'g',
);

/**
 * Finds models in a text that have ended, or end within 60 days.
 *
 * @param today as `2026-11-28`
 */
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
