import type { DiagnosticCheck } from '#core/gateway/diagnosis/diagnosis.ts';
import { failed, type Finding } from '#core/gateway/diagnosis/finding.ts';
import { explainNetworkError } from '#core/gateway/diagnosis/network.ts';
import { DeadlineExceeded, withDeadline } from '#core/platform/timing/deadline.ts';

/** A check with the name of its diagnosis. */
export interface NamedCheck extends DiagnosticCheck {
  readonly name: string;
}

/** One line of the report. */
export interface CheckedFinding extends Finding {
  readonly check: string;
  readonly subject: string | undefined;
  readonly ms: number;
}

/**
 * Runs all checks at once. A hanging check ends at its deadline and does not delay the others. Never rejects.
 *
 * @param milliseconds limit of each check that sets none itself
 * @param redact removes secrets from texts
 * @returns in the order of the checks
 */
export function runChecks(
  checks: readonly NamedCheck[],
  milliseconds: number,
  redact: (text: string) => string,
): Promise<CheckedFinding[]> {
  return Promise.all(checks.map((check) => runCheck(check, milliseconds, redact)));
}

async function runCheck(
  { name, subject, timeout, run }: NamedCheck,
  usual: number,
  redact: (text: string) => string,
): Promise<CheckedFinding> {
  const began = performance.now();
  const controller = new AbortController();
  const milliseconds = timeout === undefined ? usual : timeout * 1000;
  const late = `no result within ${milliseconds / 1000} s`;
  const { state, text, advice } = await withDeadline(begin(run, controller.signal), milliseconds, late)
    .catch(explainThrown)
    .finally(() => controller.abort());
  const ms = Math.round(performance.now() - began);
  const found = { check: name, subject, state, text: redact(text), ms };
  return advice === undefined ? found : { ...found, advice: redact(advice) };
}

/** Starts a check, and turns a synchronous throw into a rejection. */
async function begin(run: DiagnosticCheck['run'], signal: AbortSignal): Promise<Finding> {
  return run(signal);
}

function explainThrown(error: unknown): Finding {
  if (error instanceof DeadlineExceeded)
    return failed(error.message, 'The other side hangs, or a firewall drops packets. `--timeout` waits longer.');
  const known = explainNetworkError(error);
  const isKnown = !known.text.startsWith('failed for');
  if (isKnown) return known;
  return failed(
    error instanceof Error ? error.message : 'the check failed',
    'Read the message; report it with this output if it does not help.',
  );
}
