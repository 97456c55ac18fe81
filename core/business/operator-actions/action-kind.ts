import type { Host } from '#core/gateway/host/host.ts';
import { type Infer, integer, type JsonSchema } from '#core/platform/schema.ts';
import type { MemberDescribers } from './member-describers.ts';
import type { ActionDetails, Operator } from './operator-actions.ts';

/** Thrown if an action fails for a reason that concerns neither an account nor an order. The message is for people. */
export class ActionRefused extends Error {
  override readonly name = 'ActionRefused';
  readonly kind: 'refused' | 'invalid' | 'not_found';

  /** @param kind `invalid` if the input can never succeed; `not_found` if the subject does not exist */
  constructor(message: string, kind: ActionRefused['kind'] = 'refused') {
    super(message);
    this.kind = kind;
  }
}

/** The account, order or other object that an action concerns. */
export interface ActionSubject {
  /** Passed to `perform`. */
  readonly id: string;
  /** What the id is called in responses; default: the name of the kind. */
  readonly name?: string;
  /** What pages call it; default: its id. */
  readonly label?: string;
  /** Id under which the action is recorded; for a flag or refund, its order's id. */
  readonly recordedAt: string;
  /** Further details for the record, if the input does not say enough. */
  readonly detail?: ActionDetails;
}

/** A kind of subject, such as accounts, orders or routes. */
export interface SubjectKind {
  /** Singular and unique: `order`. The API has its actions below `/orders/{handle}`; without `find`, below the name itself: `/books`. */
  readonly name: string;
  /**
   * Finds a subject by the handle that operators use. Without `find`, actions concern the whole kind or the objects named in their input,
   * and are recorded under `name`.
   *
   * @throws AccountError, CheckoutError `not_found`, `ambiguous`
   */
  find?(host: Host, handle: string): Promise<ActionSubject>;
  /** How records describe the members of `detail`. */
  readonly tells?: MemberDescribers;
}

export type InputSchema = JsonSchema & { readonly properties: Readonly<Record<string, JsonSchema>> };

/** Something that operators can do. Its command, page, API endpoint and record are derived from this. */
export interface ActionKind<Input extends object = ActionDetails, Name extends string = string> {
  /** `SUBJECT.VERB`, unique. The page text `operator.did.NAME` says that it was done. */
  readonly name: Name;
  readonly subject: SubjectKind;
  /** Starts with a verb. */
  readonly summary: string;
  readonly input: InputSchema;
  /** How records describe the members of the input, in this order; the note comes last. Members without a describer are shown by name. */
  readonly tells?: MemberDescribers<Input>;
  /** Members of the input that are not recorded. */
  readonly unrecorded?: readonly string[];
  /** Members of the result that are shown only once: no stored response contains them. */
  readonly secrets?: readonly string[];
  /** True if the page and the command ask for confirmation. */
  readonly isDanger?: boolean;
  /** True if it could lock an operator out. It is then refused for operators' accounts. */
  readonly sparesOperators?: boolean;
  /**
   * Returns the input to record and perform. Replace handles with ids, because the records of one account must not contain personal data of
   * another, and add details that an id alone does not show.
   */
  resolve?(host: Host, input: Input): Promise<Input>;
  /**
   * @param operator the acting operator, for actions that record further actions
   * @returns details to report besides success, as JSON
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

/**
 * Infers the type of an action's input from its schema. Load the implementation inside `perform`: MikroORM would slow down all commands.
 */
export function defineAction<const Name extends string, const S extends InputSchema>(
  action: ActionKind<InputOf<S>, Name> & { readonly input: S },
): ActionKind<InputOf<S>, Name> {
  return action;
}

/** Schema for one line of text that is not blank. */
export const text = (description: string, maxLength = 200) =>
  ({ type: 'string', minLength: 1, maxLength, pattern: '\\S', description }) as const;

/** Schema for a point in time. */
export const time = {
  ...text('RFC 3339, with the zone, such as 2026-11-22T20:00+07:00.', 40),
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d\\d:\\d\\d)$',
  format: 'date-time',
} as const;

/** Schema for a text that may have several lines. */
export const lines = (description: string, maxLength: number) =>
  ({ ...text(description, maxLength), isMultiline: true }) as const;

/** Schema for an amount in the currency of the plans. */
export const amount = (description: string) => integer({ minimum: 1, isMoney: true }, description);

/** Schema for an account. People give its id, email address, name or key; actions get and record the id. */
export const account = (description: string) => ({ ...text(description, 320), isAccount: true }) as const;

export const note = lines('Why, for the record.', 500);

/** Splits `account.add_days` into its subject `account` and its verb `add-days`, as they appear in paths and commands. */
export function splitActionName(action: string): { readonly subject: string; readonly verb: string } {
  const dot = action.indexOf('.');
  return { subject: action.slice(0, dot), verb: action.slice(dot + 1).replaceAll('_', '-') };
}

/** Describes an action's details in one line for commands; the operator's note comes last. */
export function describeDetails({ note: noteText, ...members }: ActionDetails): string | undefined {
  const parts = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${String(value)}`],
  );
  return [...parts, ...(noteText === undefined ? [] : [String(noteText)])].join(', ') || undefined;
}
