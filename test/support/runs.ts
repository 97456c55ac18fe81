/** Factor on the default number of generated cases. `EDIT_CASES` is the former name of the variable. */
export const caseFactor = Number(process.env['TEST_CASES'] ?? process.env['EDIT_CASES'] ?? 1);

export function runs(count: number): { numRuns: number } {
  return { numRuns: count * caseFactor };
}
