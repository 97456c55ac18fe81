import { createHmac } from 'node:crypto';
import { alertsSection } from '#core/business/mail/alerts-section.ts';
import {
  claimMessage,
  type ClaimedAlert,
  closeAbandonedTries,
  collectMessages,
  finishMessage,
} from '#core/business/mail/outbox.ts';
import type { HealthChecks } from '#core/gateway/health/health-check.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { outgoingFetch } from '#core/platform/outgoing-fetch.ts';
import { toOperatorJson } from '#core/web/resources/operator-json.ts';
import { mailReason } from '../mail-reason.ts';
import { type AlertSource, composeAlert } from './alert.ts';

const defaultDeadlineMs = 10_000;
const maxRunMs = 20_000;

export async function sendDueWebhooks(
  host: Host,
  gateway: HealthChecks & AlertSource,
  deadlineMs = defaultDeadlineMs,
): Promise<void> {
  if (host.section(alertsSection).webhook === undefined) return;
  await collectMessages(host.database, ['webhook'], gateway);
  await closeAbandonedTries(host.database, mailReason('mail.reason.gateway_stopped'));
  const startedAt = performance.now();
  while (performance.now() - startedAt < maxRunMs) {
    const alert = await claimMessage(host.database, ['webhook'], gateway);
    if (alert === undefined || alert.channel === 'customer') return;
    // After a failure, the receiver is not called again in this run.
    if (!(await sendAlert(host, gateway, alert, deadlineMs))) return;
  }
}

async function sendAlert(
  host: Host,
  gateway: HealthChecks & AlertSource,
  claimed: ClaimedAlert,
  deadlineMs: number,
): Promise<boolean> {
  try {
    const body = await renderBody(host, gateway, claimed);
    if (body === undefined) {
      await finishMessage(host.database, claimed, 'skipped', 'it is settled');
    } else {
      await postAlert(host, claimed.eventId, body, deadlineMs);
      await finishMessage(host.database, claimed, 'sent');
    }
    return true;
  } catch (error) {
    const reason = describeError(error, deadlineMs);
    const state = await finishMessage(host.database, claimed, 'waiting', reason);
    const consequence = state === 'failed' ? 'is not retried' : 'is retried';
    host.log.warn(
      `the alert ${claimed.event} (event ${claimed.eventId}) did not reach alerts.webhook and ${consequence}: ${reason}`,
    );
    return false;
  }
}

async function renderBody(
  host: Host,
  gateway: HealthChecks & AlertSource,
  claimed: ClaimedAlert,
): Promise<string | undefined> {
  const alert = await composeAlert(host, gateway, claimed, 'en');
  if (typeof alert === 'string') return undefined;
  return JSON.stringify({
    id: claimed.eventId,
    type: claimed.event,
    created_at: claimed.createdAt,
    service: host.service.name,
    title: alert.title,
    text: alert.text,
    url: `${host.service.baseUrl}${alert.path}`,
    data: toOperatorJson(alert.data, true),
  });
}

/** Redirects are not followed, because they could lead to another host. */
async function postAlert(host: Host, id: string, body: string, deadlineMs: number): Promise<void> {
  const { url = '', secret = '' } = host.section(alertsSection).webhook ?? {};
  const timestamp = String(Math.floor(host.now() / 1000));
  const response = await outgoingFetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': host.service.slug,
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signWebhook(secret, id, timestamp, body),
    },
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(deadlineMs),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the receiver answered ${response.status}`);
}

/** Source: Standard Webhooks, https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
export function signWebhook(secret: string, id: string, timestamp: string, body: string): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret);
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

/** Leaves out the URL, which may contain a secret. */
function describeError(error: unknown, deadlineMs: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${deadlineMs / 1000} s`;
  const code = (error.cause as { code?: string } | undefined)?.code;
  return code ?? error.message;
}
