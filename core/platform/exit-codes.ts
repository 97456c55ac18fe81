/**
 * Exit codes of all commands. A command may document more in its help. `configuration` is EX_CONFIG of sysexits.h. It means that starting
 * again fails until gateway.yaml, the environment or the machine changes, so the systemd unit does not restart the gateway.
 */
export const exitCodes = { failure: 1, usage: 2, configuration: 78 } as const;

/** Returns the exit code of an error: its own (ConfigError, StartRefused, CommandFailed), or `failure`. */
export function exitCodeOf(error: unknown): number {
  return error instanceof Error && 'exitCode' in error ? Number(error.exitCode) : exitCodes.failure;
}
