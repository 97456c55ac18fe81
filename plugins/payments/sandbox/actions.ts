import type { Host } from '#core/gateway/host/host.ts';
import { endCharge, payCharge, readCharge, type SandboxCharge } from './charges.ts';
import { signatureHeader, createSignedNotification as signNotification } from './notification.ts';
import { loadSecret } from './secret.ts';

export const sandboxActions = ['pay', 'pay-late', 'pay-wrong-amount', 'fail', 'expire', 'notify'] as const;
export type SandboxAction = (typeof sandboxActions)[number];

/** Returns the status of the response, or 0 if there was none. */
export type SendNotification = (
  charge: SandboxCharge,
  body: string,
  headers: Readonly<Record<string, string>>,
) => Promise<number>;

export interface ActionOptions {
  /** Wrong amount in rupiah; defaults to half of the right one. */
  readonly amount?: number | undefined;
  readonly times?: number | undefined; // notifications, all sent concurrently
}

export interface ActionResult {
  readonly charge: SandboxCharge;
  readonly statuses: readonly number[];
}

export class SandboxRefused extends Error {
  override readonly name = 'SandboxRefused';
  readonly state: SandboxCharge['state'];

  constructor({ state, reference }: SandboxCharge) {
    super(`Charge ${reference} is ${state}, which does not allow this action`);
    this.state = state;
  }
}

export async function performAction(
  host: Pick<Host, 'database' | 'keep'>,
  charge: SandboxCharge,
  action: SandboxAction,
  send: SendNotification,
  { amount, times = 1 }: ActionOptions = {},
): Promise<ActionResult> {
  const { database } = host;
  const { reference } = charge;
  if (!allowsAction(charge, action)) throw new SandboxRefused(charge);
  if (action === 'pay-late') {
    await endCharge(database, reference, 'expired');
    await notify(host, reference, send, 1);
  }
  if (action === 'fail' || action === 'expire')
    await endCharge(database, reference, action === 'fail' ? 'failed' : 'expired');
  else if (action === 'pay-wrong-amount') await payCharge(database, reference, amount ?? computeWrongAmount(charge));
  else if (action !== 'notify') await payCharge(database, reference, charge.amount);
  return notify(host, reference, send, times);
}

/** An ended charge can still be paid late, and a notification can be sent in any state. */
export function allowsAction({ state }: SandboxCharge, action: SandboxAction): boolean {
  if (action === 'notify' || state === 'pending') return true;
  return action === 'pay-late' && state !== 'paid';
}

function computeWrongAmount({ amount }: SandboxCharge): number {
  const half = Math.max(1, Math.floor(amount / 2));
  return half === amount ? amount + 1 : half;
}

async function notify(
  host: Pick<Host, 'database' | 'keep'>,
  reference: string,
  send: SendNotification,
  times: number,
): Promise<ActionResult> {
  const charge = await readCharge(host.database, reference);
  if (charge === undefined) throw new Error(`charge ${reference} is gone`);
  const { body, signature } = signNotification(charge, await loadSecret(host));
  const responses = Array.from({ length: times }, () => send(charge, body, { [signatureHeader]: signature }));
  return { charge, statuses: await Promise.all(responses) };
}
