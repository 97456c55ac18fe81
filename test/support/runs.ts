/** How many times as many generated cases run as by default. `EDIT_CASES` is the former name of the variable. */
export const caseFactor = Number(process.env['TEST_CASES'] ?? process.env['EDIT_CASES'] ?? 1);

/** Parameters of a property that runs this often by default, and `TEST_CASES` times as often. */
export function runs(count: number): { numRuns: number } {
  return { numRuns: count * caseFactor };
}
