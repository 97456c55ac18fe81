import type { DiagnosticCheck } from '#core/gateway/diagnosis/diagnosis.ts';
import { failed, type Finding } from '#core/gateway/diagnosis/finding.ts';
import { explainNetworkError } from '#core/gateway/diagnosis/network.ts';
import { DeadlineExceeded, withDeadline } from '#core/platform/timing/deadline.ts';

export interface NamedCheck extends DiagnosticCheck {
  readonly name: string;
}

export interface CheckedFinding extends Finding {
  readonly check: string;
  readonly subject: string | undefined;
  readonly ms: number;
}

/**
 * Runs all checks concurrently. A check that hangs fails at its timeout without delaying the others. Never rejects.
 *
 * @param defaultTimeoutMs timeout for checks that do not set one
 * @param redact removes secrets from texts
 * @returns findings, in the order of the checks
 */
export function runChecks(
  checks: readonly NamedCheck[],
  defaultTimeoutMs: number,
  redact: (text: string) => string,
): Promise<CheckedFinding[]> {
  return Promise.all(checks.map((check) => runCheck(check, defaultTimeoutMs, redact)));
}

async function runCheck(
  { name, subject, timeout, run }: NamedCheck,
  defaultTimeoutMs: number,
  redact: (text: string) => string,
): Promise<CheckedFinding> {
  const startedAt = performance.now();
  const controller = new AbortController();
  const timeoutMs = timeout === undefined ? defaultTimeoutMs : timeout * 1000;
  const timeoutMessage = `no result within ${timeoutMs / 1000} s`;
  const { state, text, advice } = await withDeadline(startCheck(run, controller.signal), timeoutMs, timeoutMessage)
    .catch(explainError)
    .finally(() => controller.abort());
  const ms = Math.round(performance.now() - startedAt);
  const checkedFinding = { check: name, subject, state, text: redact(text), ms };
  return advice === undefined ? checkedFinding : { ...checkedFinding, advice: redact(advice) };
}

async function startCheck(run: DiagnosticCheck['run'], signal: AbortSignal): Promise<Finding> {
  // `async` turns a synchronous throw into a rejection.
  return run(signal);
}

function explainError(error: unknown): Finding {
  if (error instanceof DeadlineExceeded)
    return failed(error.message, 'The other side hangs, or a firewall drops packets. Try a longer `--timeout`.');
  const finding = explainNetworkError(error);
  const isExplained = !finding.text.startsWith('failed for');
  if (isExplained) return finding;
  return failed(
    error instanceof Error ? error.message : 'the check failed',
    'Read the message; report it with this output if it does not help.',
  );
}
