import type { Host } from '#core/gateway/host/host.ts';
import { type Infer, integer, type JsonSchema } from '#core/platform/schema.ts';
import type { MemberDescribers } from './member-describers.ts';
import type { ActionDetails, Operator } from './operator-actions.ts';

/** Error of an action that concerns neither an account nor an order. The message is for people. */
export class ActionRefused extends Error {
  override readonly name = 'ActionRefused';
  readonly kind: 'refused' | 'invalid' | 'not_found';

  /** @param kind `invalid` for an input that can never succeed; `not_found` for a subject that does not exist */
  constructor(message: string, kind: ActionRefused['kind'] = 'refused') {
    super(message);
    this.kind = kind;
  }
}

/** The account, order or other thing that an action is about. */
export interface ActionSubject {
  /** Passed to `perform`. */
  readonly id: string;
  /** Name of the id in responses; default: the name of the kind. */
  readonly name?: string;
  /** What pages call it; default: its id. */
  readonly label?: string;
  /** Id at which the action is recorded; for a flag or refund, its order's. */
  readonly recordedAt: string;
  /** Additional details for the record, if the input is not enough. */
  readonly detail?: ActionDetails;
}

/** A kind of subject, such as accounts, orders or routes. */
export interface SubjectKind {
  /** Singular and unique: `order`. The API has its actions below `/orders/{handle}`; without `find`, below the name: `/books`. */
  readonly name: string;
  /**
   * Finds a subject by the handle that operators use. Without `find`, actions concern the whole kind or the things that their input names,
   * and are recorded at `name`.
   *
   * @throws AccountError, CheckoutError `not_found`, `ambiguous`
   */
  find?(host: Host, handle: string): Promise<ActionSubject>;
  /** How the record describes the members of `detail`. */
  readonly tells?: MemberDescribers;
}

/** The schema of an action's input: an object. */
export type InputSchema = JsonSchema & { readonly properties: Readonly<Record<string, JsonSchema>> };

/** An operator's action, from which its command, page, API endpoint and record are derived. */
export interface ActionKind<Input extends object = ActionDetails, Name extends string = string> {
  /** `SUBJECT.VERB`, unique. The text `operator.did.NAME` says that it was done. */
  readonly name: Name;
  readonly subject: SubjectKind;
  /** Begins with a verb. */
  readonly summary: string;
  readonly input: InputSchema;
  /** How the record describes each member of the input, in this order, with the note last. Other members are described by their names. */
  readonly tells?: MemberDescribers<Input>;
  /** Members of the input that are not recorded. */
  readonly unrecorded?: readonly string[];
  /** Members of the result that are shown once: no stored response contains them. */
  readonly secrets?: readonly string[];
  /** True if its page and its command ask for confirmation. */
  readonly isDanger?: boolean;
  /** True if it could lock an operator out, so that it is refused for an operator's account. */
  readonly sparesOperators?: boolean;
  /**
   * Returns the input to record and perform. Replaces handles by ids, because the records of an account must not contain personal data of a
   * different account, and adds details that an id alone does not show.
   */
  resolve?(host: Host, input: Input): Promise<Input>;
  /**
   * Performs the action.
   *
   * @param operator the acting operator, for an action that records further actions
   * @returns details to report in addition to success, as JSON
   * @throws AccountError, CheckoutError, ActionRefused with messages for people
   */
  perform(
    host: Host,
    subjectId: string,
    input: Input,
    operator: Operator,
  ): Promise<Readonly<Record<string, unknown>> | void>;
}

/** Type of the inputs that a schema accepts. */
export type InputOf<S extends InputSchema> = Infer<S> & object;

/**
 * Infers the type of an action's input from its schema. `perform` loads its implementation, because MikroORM would slow down all commands.
 */
export function defineAction<const Name extends string, const S extends InputSchema>(
  action: ActionKind<InputOf<S>, Name> & { readonly input: S },
): ActionKind<InputOf<S>, Name> {
  return action;
}

/** Schema of a text that is not blank, on one line. */
export const text = (description: string, maxLength = 200) =>
  ({ type: 'string', minLength: 1, maxLength, pattern: '\\S', description }) as const;

/** Schema of an instant. */
export const time = {
  ...text('RFC 3339, with the zone, such as 2026-11-22T20:00+07:00.', 40),
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d\\d:\\d\\d)$',
  format: 'date-time',
} as const;

/** Schema of a text that may have several lines. */
export const lines = (description: string, maxLength: number) =>
  ({ ...text(description, maxLength), isMultiline: true }) as const;

/** Schema of an amount in the currency of the plans. */
export const amount = (description: string) => integer({ minimum: 1, isMoney: true }, description);

/** Schema of an account, which people name by its id, email address, name or key; actions get and record the id. */
export const account = (description: string) => ({ ...text(description, 320), isAccount: true }) as const;

/** Schema of the operator's reason. */
export const note = lines('Why, for the record.', 500);

/** Splits `account.add_days` into its subject `account` and its verb `add-days`, as in paths and commands. */
export function splitActionName(action: string): { readonly subject: string; readonly verb: string } {
  const dot = action.indexOf('.');
  return { subject: action.slice(0, dot), verb: action.slice(dot + 1).replaceAll('_', '-') };
}

/** Describes the details of an action in one line for commands, with the operator's note last. */
export function describeDetails({ note: noteText, ...members }: ActionDetails): string | undefined {
  const parts = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${String(value)}`],
  );
  return [...parts, ...(noteText === undefined ? [] : [String(noteText)])].join(', ') || undefined;
}
