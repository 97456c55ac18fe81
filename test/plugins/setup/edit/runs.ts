/** How many times as many generated cases run as by default. */
const factor = Number(process.env['EDIT_CASES'] ?? 1);

/** Parameters of a property that runs this often by default, and `EDIT_CASES` times as often. */
export function runs(count: number): { numRuns: number } {
  return { numRuns: count * factor };
}
