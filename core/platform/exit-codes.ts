/**
 * Meaning of all commands' exit codes; a command may document more in its help. `configuration` is EX_CONFIG of sysexits.h:
 * the same command fails again until a person changes gateway.yaml, the environment or the machine, so the unit of systemd does
 * not start the gateway again.
 */
export const exitCodes = { failure: 1, usage: 2, configuration: 78 } as const;

/** Exit code of an error that has one, such as ConfigError, StartRefused and CommandFailed. */
export function exitCodeOf(error: unknown): number {
  return error instanceof Error && 'exitCode' in error ? Number(error.exitCode) : exitCodes.failure;
}
