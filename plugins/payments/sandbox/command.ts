import type { Command as Parser } from 'commander';
import { formatMoney } from '#core/business/accounts/money.ts';
import { parseInteger } from '#core/extension/commands/arguments.ts';
import { type Command, type CommandContext, CommandFailed } from '#core/extension/commands/command.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { outgoingFetch } from '#core/platform/outgoing-fetch.ts';
import {
  performAction,
  type ActionOptions,
  type ActionResult,
  type SandboxAction,
  SandboxRefused,
  type SendNotification,
} from './actions.ts';
import { findCharge } from './charges.ts';

const timeoutMs = 5_000;

const descriptions: Readonly<Record<SandboxAction, string>> = {
  pay: 'pay it',
  'pay-late': 'let it expire, then pay it',
  'pay-wrong-amount': 'pay a different amount',
  fail: 'let the payment fail',
  expire: 'let it expire',
  notify: 'send the notification of its current state again',
};

const help = `
REFERENCE is an order code, such as ORD-7F3K2MQX, or one of its payments, such as ORD-7F3K2MQX.2.

Exit codes: 0 success, 1 failure, 2 invalid usage, 3 payment not found.`;

/** The gateway that took the order must be running to receive the notifications. */
export const sandboxCommand: Command = {
  name: 'sandbox',
  define(parser, context) {
    parser.description('pay, fail or expire sandbox payments').addHelpText('after', help);
    for (const action of Object.keys(descriptions) as SandboxAction[]) defineAction(parser, context, action);
  },
};

function defineAction(parser: Parser, context: CommandContext, action: SandboxAction): void {
  const command = parser
    .command(action)
    .description(descriptions[action])
    .argument('<reference>', 'order or payment')
    .addHelpText('after', help);
  if (action === 'pay-wrong-amount')
    command.option('--amount <rupiah>', 'amount paid; default: half', parseInteger(1, 1e12));
  command.option('--times <n>', 'how many notifications to send at once', parseInteger(1, 1_000));
  command.action(async (reference: string, options: ActionOptions) => {
    const { charge, statuses } = await context.withHost((host) => runAction(host, action, reference, options));
    const paid = charge.paidAmount === undefined ? '' : `, ${formatMoney(charge.paidAmount, charge.currency)}`;
    context.print(`${charge.reference}: ${charge.state}${paid}`);
    const responses = statuses.filter((status) => status !== 0);
    const notifications = statuses.length === 1 ? 'the notification' : `${statuses.length} notifications`;
    if (responses.length > 0) context.print(`The gateway answered ${notifications} with ${responses.join(', ')}.`);
    if (statuses.includes(0))
      context.print(`No gateway responded at ${charge.notificationUrl}; it will check the status later.`);
  });
}

async function runAction(
  host: Host,
  action: SandboxAction,
  reference: string,
  options: ActionOptions,
): Promise<ActionResult> {
  if (host.isProduction)
    throw new CommandFailed(
      'The sandbox is off in production: with NODE_ENV=production, or when service.base_url is not this machine',
    );
  const charge = await findCharge(host.database, reference);
  if (charge === undefined) throw new CommandFailed(`Payment "${reference}" not found in the sandbox`, 3);
  try {
    return await performAction(host, charge, action, send, options);
  } catch (error) {
    throw error instanceof SandboxRefused ? new CommandFailed(error.message) : error;
  }
}

const send: SendNotification = async ({ notificationUrl }, body, headers) => {
  const request = { method: 'POST', body, headers, signal: AbortSignal.timeout(timeoutMs) };
  const response = await outgoingFetch(notificationUrl, request).catch(() => undefined);
  await response?.body?.cancel();
  return response?.status ?? 0;
};
