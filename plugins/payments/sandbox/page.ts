import type { Server } from '@hapi/hapi';
import { object, string } from '#core/platform/schema.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { defineForm, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import {
  allowsAction,
  performAction,
  type SandboxAction,
  sandboxActions,
  SandboxRefused,
  type SendNotification,
} from './actions.ts';
import { findCharge, type SandboxCharge } from './charges.ts';

const path = '/sandbox/{reference}';

export function createSandboxPage(server: Server): Page {
  return {
    path,
    role: 'public',
    layout: 'plain',
    title: 'payments.sandbox.title',
    template: 'payments/sandbox.eta',
    show: async (request) => describeCharge(await findRequestedCharge(request), request),
    forms: [
      defineForm({
        path,
        fields: object(['action'], { action: string({ enum: sandboxActions }) }),
        async submit({ action }, request) {
          const charge = await findRequestedCharge(request);
          const completedAction = await performOrRefuse(request, charge, action, createInProcessSender(server));
          return new Redirect(`/sandbox/${charge.reference}?done=${completedAction}`);
        },
      }),
    ],
  };
}

async function findRequestedCharge({ host, params }: PageRequest): Promise<SandboxCharge> {
  const charge = host.isProduction ? undefined : await findCharge(host.database, params['reference'] ?? '');
  if (charge === undefined) throw new PageError(404, 'payments.sandbox.unknown');
  return charge;
}

async function performOrRefuse(
  { host }: PageRequest,
  charge: SandboxCharge,
  action: SandboxAction,
  send: SendNotification,
): Promise<string> {
  try {
    await performAction(host, charge, action, send);
    return action;
  } catch (error) {
    if (error instanceof SandboxRefused) return 'refused';
    throw error;
  }
}

function createInProcessSender(server: Server): SendNotification {
  return async (_charge, payload, headers) => {
    // The same route as other providers use, without leaving the process.
    const { statusCode } = await server.inject({ method: 'POST', url: '/hooks/sandbox', payload, headers });
    return statusCode;
  };
}

function describeCharge(charge: SandboxCharge, { t, format, query }: PageRequest) {
  const { reference, amount, currency } = charge;
  const completedAction = query['done'] ?? '';
  const isDone = completedAction === 'refused' || sandboxActions.some((action) => action === completedAction);
  return {
    reference,
    code: reference.replace(/\.\d+$/, ''),
    amount: format.money(amount, currency),
    paid: charge.paidAmount === undefined ? '' : format.money(charge.paidAmount, currency),
    state: t(`payments.sandbox.state.${selectStateKey(charge)}`),
    expiresAt: format.time(charge.expiresAt),
    done: isDone ? t(`payments.sandbox.done.${completedAction as SandboxAction}`) : '',
    isRefused: completedAction === 'refused',
    actions: sandboxActions
      .filter((action) => allowsAction(charge, action))
      .map((action) => ({ action, label: t(`payments.sandbox.action.${action}`), isFirst: action === 'pay' })),
  };
}

function selectStateKey({ state, refunds, amount, paidAmount = amount }: SandboxCharge) {
  if (refunds.length > 0) return 'refunded';
  return state === 'paid' && paidAmount !== amount ? 'paid_wrong' : state;
}
