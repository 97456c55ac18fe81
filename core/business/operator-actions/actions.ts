import { userInfo } from 'node:os';
import { isOperatorAddress } from '#core/config/sections/operators-section.ts';
import type { Host, Services } from '#core/gateway/host/host.ts';
import { AccountError } from '../accounts/account-error.ts';
import { findAccountByHandle } from '../accounts/account-list.ts';
import { CheckoutError } from '../payments/checkout-error.ts';
import { accountActions } from './account-actions.ts';
import { type ActionKind, ActionRefused, type ActionSubject, type SubjectKind } from './action-kind.ts';
import { type Operator, recordAction } from './operator-actions.ts';
import { orderActions } from './order-actions.ts';

export const coreActions = [...accountActions, ...orderActions] as const;

type CoreAction = (typeof coreActions)[number];

export function getCoreAction<const Name extends CoreAction['name']>(name: Name): Extract<CoreAction, { name: Name }> {
  return coreActions.find((action) => action.name === name) as Extract<CoreAction, { name: Name }>;
}

type Actions = ReadonlyMap<string, ActionKind>;

const serviceKey = 'operator-actions';
const coreActionsByName: Actions = new Map<string, ActionKind>(coreActions.map((action) => [action.name, action]));

/** Stores the registered actions, so that any code that has a host can get them with `getActions`. */
export function keepActions(services: Pick<Services, 'keep'>, actions: Actions): void {
  services.keep(serviceKey, () => actions);
}

/** Returns all registered actions by name, or only core's own if `keepActions` was not called. */
export function getActions(host: Pick<Host, 'keep'>): Actions {
  return host.keep(serviceKey, () => coreActionsByName);
}

async function findSubject(host: Host, kind: SubjectKind, handle: string): Promise<ActionSubject> {
  return (await kind.find?.(host, handle)) ?? { id: kind.name, recordedAt: kind.name };
}

export interface PerformedAction {
  readonly subject: ActionSubject;
  /** Details to report besides success. */
  readonly result: Readonly<Record<string, unknown>>;
}

/**
 * Performs an action and records who did it.
 *
 * @throws errors from `perform`; AccountError `operator_account`; ActionRefused `invalid` if the input is invalid, before anything is
 *   recorded
 */
export async function runAction<Input extends object>(
  host: Host,
  operator: Operator,
  action: ActionKind<Input>,
  handle: string,
  input: NoInfer<Input>,
): Promise<PerformedAction> {
  await requireValid(action, input);
  const subject = await findSubject(host, action.subject, handle);
  const namedInput = await resolveAccountHandles(host, action, input);
  const resolvedInput = (await action.resolve?.(host, namedInput)) ?? namedInput;
  const isRecorded = ([name]: readonly [string, unknown]) =>
    !(action.unrecorded ?? []).some((member) => member === name);
  const recorded = {
    operator,
    action: action.name,
    subject: subject.recordedAt,
    details: { ...Object.fromEntries(Object.entries(resolvedInput).filter(isRecorded)), ...subject.detail },
  };
  const result = await recordAction(host.database, recorded, async () => {
    if (action.sparesOperators === true) await requireCustomer(host, subject.id);
    return action.perform(host, subject.id, resolvedInput, operator);
  });
  return { subject, result: result ?? {} };
}

async function resolveAccountHandles<Input extends object>(
  host: Host,
  { input: { properties } }: Pick<ActionKind, 'input'>,
  input: Input,
): Promise<Input> {
  const members = Object.entries(input).map(async ([name, value]: [string, unknown]) => [
    name,
    properties[name]?.isAccount === true && value !== undefined
      ? (await findAccountByHandle(host, String(value))).id
      : value,
  ]);
  return Object.fromEntries(await Promise.all(members)) as Input;
}

async function requireValid({ input: schema }: Pick<ActionKind, 'input'>, input: object): Promise<void> {
  // Commands and pages check less, and types are not enforced at run time. Imported late, because loading Ajv would slow down commands.
  const { describeMistakes } = await import('./input-mistakes.ts');
  const mistakes = describeMistakes(schema, input);
  if (mistakes !== undefined) throw new ActionRefused(mistakes, 'invalid');
}

async function requireCustomer(host: Host, accountId: string): Promise<void> {
  const { findAccount } = await import('../accounts/accounts.ts');
  const { email } = await findAccount(host.database, accountId);
  // Keeps operators from locking out each other or themselves by mistake.
  if (isOperatorAddress(host, email))
    throw new AccountError(
      'operator_account',
      `${email} is an operator. Remove the address from operators in gateway.yaml first.`,
    );
}

/** Returns the operator who runs a command: the machine's user, not an account. */
export function getCommandOperator(): Operator {
  return { id: '00000000-0000-0000-0000-000000000000', name: `command (${userName()})` };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown user'; // the user of a container may have no name
  }
}

export type ActionError = AccountError | CheckoutError | ActionRefused;

export function isActionError(error: unknown): error is ActionError {
  return error instanceof AccountError || error instanceof CheckoutError || error instanceof ActionRefused;
}
