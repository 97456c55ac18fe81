import type { Host } from '#core/gateway/host/host.ts';
import { type Infer, integer, type JsonSchema } from '#core/platform/schema.ts';
import type { ActionWords, Operator } from './operator-actions.ts';
import type { Tellers } from './telling.ts';

/** Reason why an action on neither an account nor an order was not done. The message is for people. */
export class ActionRefused extends Error {
  override readonly name = 'ActionRefused';
  readonly kind: 'refused' | 'invalid' | 'not_found';

  /** @param kind `invalid` for an input that could never be done; `not_found` for a subject that does not exist */
  constructor(message: string, kind: ActionRefused['kind'] = 'refused') {
    super(message);
    this.kind = kind;
  }
}

/** The account, order or other thing that an action is about. */
export interface ActionSubject {
  /** Passed to `perform`. */
  readonly id: string;
  /** Name of the id in responses; default: that of the kind. */
  readonly name?: string;
  /** Where the action is recorded: for a flag or refund, at its order. */
  readonly recordedAt: string;
  /** Additional details for the record, if the input is not enough. */
  readonly detail?: ActionWords;
}

/** A kind of subject, such as accounts, orders or routes. */
export interface SubjectKind {
  /** Singular and unique: `order`. The API has its actions below `/orders/{handle}`, or below `/books` without `find`. */
  readonly name: string;
  /**
   * Finds a subject by what operators call it. Without it, actions are about all of the kind, or about what their input names, and are
   * recorded at `name`.
   *
   * @throws AccountError, CheckoutError `not_found`, `ambiguous`
   */
  find?(host: Host, handle: string): Promise<ActionSubject>;
  /** How the record prints the members of `detail`. */
  readonly tells?: Tellers;
}

/** The schema of an action's input: an object. */
export type InputSchema = JsonSchema & { readonly properties: Readonly<Record<string, JsonSchema>> };

/** An operator's action, from which its command, page, API endpoint and record are derived. */
export interface ActionKind<Input extends object = ActionWords, Name extends string = string> {
  /** `SUBJECT.VERB`, unique. The text `operator.did.NAME` says that it was done. */
  readonly name: Name;
  readonly subject: SubjectKind;
  /** Begins with a verb. */
  readonly summary: string;
  readonly input: InputSchema;
  /**
   * How the record describes each member of the input, in this order, with the note last. Members without a teller are printed under their
   * names.
   */
  readonly tells?: Tellers<Input>;
  /** Members of the input that are not recorded. */
  readonly unrecorded?: readonly string[];
  /** Members of the result that are shown once: no stored response contains them. */
  readonly secrets?: readonly string[];
  /** True: its page and its command ask for confirmation. */
  readonly isDanger?: boolean;
  /** True: it could lock an operator out, and is refused for an operator's account. */
  readonly sparesOperators?: boolean;
  /**
   * The input as it is recorded and performed: with ids instead of handles, because records of one account hold nothing personal of
   * another, and with what an id alone would not say.
   */
  resolve?(host: Host, input: Input): Promise<Input>;
  /**
   * @param operator for actions that record others
   * @returns details to report beyond success, as JSON
   * @throws AccountError, CheckoutError, ActionRefused with messages for people
   */
  perform(
    host: Host,
    subjectId: string,
    input: Input,
    operator: Operator,
  ): Promise<Readonly<Record<string, unknown>> | void>;
}

export type InputOf<S extends InputSchema> = Infer<S> & object;

/** Ties an action to the schema of its input. `perform` loads what it needs: MikroORM would slow all commands down. */
export function defineAction<const Name extends string, const S extends InputSchema>(
  action: ActionKind<InputOf<S>, Name> & { readonly input: S },
): ActionKind<InputOf<S>, Name> {
  return action;
}

export const text = (description: string, maxLength = 200) =>
  ({ type: 'string', minLength: 1, maxLength, pattern: '\\S', description }) as const;

export const time = {
  ...text('RFC 3339, with the zone, such as 2026-11-22T20:00+07:00.', 40),
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d\\d:\\d\\d)$',
  format: 'date-time',
} as const;

/** A text that may have several lines. */
export const lines = (description: string, maxLength: number) =>
  ({ ...text(description, maxLength), isMultiline: true }) as const;

/** An amount, in the currency of the plans. */
export const amount = (description: string) => integer({ minimum: 1, isMoney: true }, description);

export const note = lines('Why, for the record.', 500);

/** Splits `account.add_days` into its subject `account` and its verb `add-days`, as in paths and commands. */
export function partsOf(action: string): { readonly subject: string; readonly verb: string } {
  const dot = action.indexOf('.');
  return { subject: action.slice(0, dot), verb: action.slice(dot + 1).replaceAll('_', '-') };
}

/** The input in one line for commands, the operator's words last. */
export function describeWords({ note: words, ...rest }: ActionWords): string | undefined {
  const parts = Object.entries(rest).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${String(value)}`],
  );
  return [...parts, ...(words === undefined ? [] : [String(words)])].join(', ') || undefined;
}
