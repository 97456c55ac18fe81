import { type Dialect, dialectNames } from '#core/platform/errors/dialects.ts';
import { type ErrorCode, errorKinds, GatewayError } from '#core/platform/errors/table.ts';
import type { Translate } from '#core/web/texts/texts.ts';

export interface DescribedError {
  readonly code: ErrorCode;
  readonly status: number;
  readonly words: Readonly<Record<Dialect, string>>; // in each dialect's error object: the code if there is one, otherwise the type
  readonly text: string;
  readonly canRetry: boolean; // the same request may succeed later
}

const codes = Object.keys(errorKinds) as ErrorCode[];

export function describeErrors(t: Translate): DescribedError[] {
  return codes.map((code) => describeError(code, t)).toSorted((a, b) => a.status - b.status);
}

function describeError(code: ErrorCode, t: Translate): DescribedError {
  const error = new GatewayError(code, '');
  const words = dialectNames.map((dialect) => {
    const { type, code: word } = error.wording(dialect);
    return [dialect, word ?? type];
  });
  return {
    code,
    status: errorKinds[code].status,
    words: Object.fromEntries(words) as DescribedError['words'],
    text: t(`docs.error.${code}`),
    canRetry: !error.isFinal,
  };
}
