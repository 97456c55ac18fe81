/** Prints how each attempt went. */
export interface Report {
  readonly failures: number;
  /** Runs a check, and goes on when it fails. */
  attempt(name: string, run: () => Promise<unknown>): Promise<void>;
}

export function openReport(): Report {
  let failures = 0;
  return {
    get failures() {
      return failures;
    },
    async attempt(name, run) {
      const start = performance.now();
      const seconds = () => `${((performance.now() - start) / 1_000).toFixed(1)} s`;
      try {
        const seen = await run();
        console.log(`ok     ${name} (${typeof seen === 'string' ? `${seen}; ` : ''}${seconds()})`);
      } catch (error) {
        failures++;
        console.log(`FAILED ${name} (${seconds()})\n${error instanceof Error ? error.message : String(error)}`);
      }
    },
  };
}
