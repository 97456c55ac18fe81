import type { Host } from '#core/gateway/host/host.ts';
import type { JsonSchema } from '#core/platform/schema.ts';
import type { ActionWords, OperatorAction } from './operator-actions.ts';

export type { ActionWords } from './operator-actions.ts';

/** Why an action that is about neither accounts nor orders was not done. The message is for people. */
export class ActionRefused extends Error {
  override readonly name = 'ActionRefused';
  readonly kind: 'refused' | 'invalid';

  /** @param kind `invalid` for an input that could never be done */
  constructor(message: string, kind: ActionRefused['kind'] = 'refused') {
    super(message);
    this.kind = kind;
  }
}

/** What an action is about: one that has a handle, or all of a kind, such as what an outage has hit. */
export type SubjectKind =
  | 'account'
  | 'order'
  | 'flag'
  | 'refund'
  | 'route'
  | 'announcement'
  | 'mail'
  | SubjectWithoutHandle;

const withoutHandle = ['outage', 'announcements', 'books', 'configuration'] as const;
type SubjectWithoutHandle = (typeof withoutHandle)[number];

/** False for an action that is about all of a kind, or about what its input says. */
export function hasHandle({ subject }: Pick<ActionKind, 'subject'>): boolean {
  return !withoutHandle.some((kind) => kind === subject);
}

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
  /**
   * The input as it is recorded and done: ids in the place of handles, because what is recorded of one account holds nothing personal
   * of another, and what an id alone would not say.
   */
  resolve?(host: Host, input: ActionWords): Promise<ActionWords>;
  /**
   * @param operator for actions that record others
   * @returns what came of it, where that is more than done; JSON
   * @throws AccountError, CheckoutError, ActionRefused with messages for people
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

export const time = {
  ...text('RFC 3339, with the zone, such as 2026-11-22T20:00+07:00.', 40),
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d\\d:\\d\\d)$',
} as const;

export const note = text('Why, for the record.', 500);

/** For commands: the input in one line, the operator's words last. */
export function describeWords({ note: words, ...rest }: ActionWords): string | undefined {
  const parts = Object.entries(rest).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${String(value)}`],
  );
  return [...parts, ...(words === undefined ? [] : [words])].join(', ') || undefined;
}
