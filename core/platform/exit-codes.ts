/**
 * Exit codes shared by all commands. A command may define more, which its help documents. `configuration` is EX_CONFIG from sysexits.h:
 * restarting cannot help until gateway.yaml, the environment or the machine changes, so the systemd unit does not restart the gateway.
 */
export const exitCodes = { failure: 1, usage: 2, configuration: 78 } as const;

/** Returns the error's own `exitCode` if that denotes a failure, otherwise `failure`. */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof Error) || !('exitCode' in error)) return exitCodes.failure;
  const { exitCode } = error;
  const reportsFailure = typeof exitCode === 'number' && Number.isInteger(exitCode) && exitCode > 0 && exitCode < 256;
  return reportsFailure ? exitCode : exitCodes.failure;
}
