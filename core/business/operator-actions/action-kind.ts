import type { Host } from '#core/gateway/host/host.ts';
import type { JsonSchema } from '#core/platform/schema.ts';
import type { DaysBack } from '../payments/order-types.ts';
import type { OperatorAction } from './operator-actions.ts';

/** What an operator says with an action. Which members it takes is in its schema. */
export interface ActionWords {
  /** Why, or what was done. */
  readonly note?: string | undefined;
  readonly days?: number | undefined;
  readonly to?: string | undefined;
  readonly sign_in?: string | undefined;
  readonly payment?: string | undefined;
  readonly amount?: number | undefined;
  readonly manual?: boolean | undefined;
  readonly days_back?: DaysBack | undefined;
  readonly as?: 'done' | 'failed' | undefined;
  readonly label?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly model?: string | undefined;
  /** Shows that this account is meant; kept in no record. */
  readonly confirm?: string | undefined;
}

/** What an action is about. An outage has no handle: its span is in the input. */
export type SubjectKind = 'account' | 'order' | 'flag' | 'refund' | 'route' | 'outage';

/** An action, from which its command, its page and its endpoint of the operator's API follow. */
export interface ActionKind {
  readonly name: OperatorAction['action'];
  readonly subject: SubjectKind;
  /** Begins with a verb. */
  readonly summary: string;
  /** The input: members of `ActionWords`. */
  readonly input: JsonSchema & { readonly properties: Readonly<Record<string, JsonSchema>> };
  /** True: it could lock an operator out, and is refused for the account of one. */
  readonly sparesOperators?: boolean;
  /** Puts ids in the place of handles in the input: what is recorded of one account holds nothing personal of another. */
  resolve?(host: Host, input: ActionWords): Promise<ActionWords>;
  /**
   * @param operator for actions that record others
   * @returns what came of it, where that is more than done; JSON
   * @throws AccountError, CheckoutError with messages for people
   */
  perform(
    host: Host,
    subjectId: string,
    input: ActionWords,
    operator: OperatorAction['operator'],
  ): Promise<Readonly<Record<string, unknown>> | void>;
}

export const text = (description: string, maxLength = 200) =>
  ({ type: 'string', minLength: 1, maxLength, pattern: '\\S', description }) as const;

export const note = text('Why, for the record.', 500);

export const schema = <const P extends Readonly<Record<string, JsonSchema>>>(
  properties: P,
  required: readonly (keyof P & string)[],
) => ({ type: 'object', properties, required, additionalProperties: false }) as const;

/** The input in one line, the operator's words last. */
export function describeWords({ note: words, ...rest }: ActionWords): string | undefined {
  const parts = Object.entries(rest).flatMap(([name, value]) =>
    value === undefined || name === 'confirm' ? [] : [`${name}: ${String(value)}`],
  );
  return [...parts, ...(words === undefined ? [] : [words])].join(', ') || undefined;
}
