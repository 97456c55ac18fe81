/**
 * Exit codes of all commands; a command may document more in its help. `configuration` is EX_CONFIG of sysexits.h: the command fails again
 * until somebody changes gateway.yaml, the environment or the machine, so the systemd unit does not restart the gateway.
 */
export const exitCodes = { failure: 1, usage: 2, configuration: 78 } as const;

/** Returns the exit code of an error; ConfigError, StartRefused and CommandFailed have their own. */
export function exitCodeOf(error: unknown): number {
  return error instanceof Error && 'exitCode' in error ? Number(error.exitCode) : exitCodes.failure;
}
