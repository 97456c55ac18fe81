/** Returns the JSON Schema of an object with exactly these properties, and possibly those in `optional`. */
export function shape(members: Record<string, object>, optional: Record<string, object> = {}): object {
  return {
    type: 'object',
    properties: { ...members, ...optional },
    required: Object.keys(members),
    additionalProperties: false,
  };
}
