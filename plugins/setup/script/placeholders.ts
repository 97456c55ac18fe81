import type { SetupModel } from '../values.ts';

/** Placeholders in the texts of actions, which the script replaces by values. */
export const placeholders = {
  key: '@KEY@',
  model: '@MODEL@',
  small: '@SMALL@',
  context: '@CONTEXT@',
  output: '@OUTPUT@',
  smallContext: '@SMALL_CONTEXT@',
  smallOutput: '@SMALL_OUTPUT@',
} as const;

/** Numbers that stand for limits while settings are written, because settings hold numbers: nothing else in them is as long. */
const standIns = {
  context: 7_310_000_000_000_001,
  output: 7_310_000_000_000_002,
  smallContext: 7_310_000_000_000_003,
  smallOutput: 7_310_000_000_000_004,
} as const;

/** Letters for the properties on which settings depend besides the values of placeholders; `n` for a model without any. */
export function traitsOf({ maxInputTokens, maxOutputTokens, canSeeImages }: SetupModel): string {
  const letters = [maxInputTokens !== undefined && 'c', maxOutputTokens !== undefined && 'o', canSeeImages && 'i'];
  return letters.filter((letter) => letter !== false).join('') || 'n';
}

/** A model with these traits, and with placeholders for its name and limits. */
export function modelWith(traits: string, role: 'main' | 'small'): SetupModel {
  const isMain = role === 'main';
  return {
    name: isMain ? placeholders.model : placeholders.small,
    maxInputTokens: traits.includes('c') ? standIns[isMain ? 'context' : 'smallContext'] : undefined,
    maxOutputTokens: traits.includes('o') ? standIns[isMain ? 'output' : 'smallOutput'] : undefined,
    canSeeImages: traits.includes('i'),
  };
}

/** Puts placeholders where settings have the limits of `modelWith`. */
export function withPlaceholders(text: string): string {
  return Object.entries(standIns).reduce(
    (written, [name, number]) => written.replaceAll(String(number), placeholders[name as keyof typeof standIns]),
    text,
  );
}
