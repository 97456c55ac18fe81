/** Purpose of a model. Each endpoint calls models of one kind. */
export const modelKinds = ['chat', 'embedding', 'image', 'speech', 'transcription', 'rerank', 'moderation'] as const;

export type ModelKind = (typeof modelKinds)[number];

type KindsOfFormats = ReadonlyMap<string, { readonly kind: ModelKind }>;

/**
 * Returns the kind of a model that declares none: the kind in the vendor's preset or, if its endpoints serve models of a single kind, that
 * kind. Any other model is a chat model.
 *
 * @param spoken names of the formats of the model's routes
 */
export function inferKind(
  preset: ModelKind | undefined,
  spoken: readonly string[],
  formats: KindsOfFormats,
): ModelKind {
  const served = new Set(spoken.flatMap((name) => formats.get(name)?.kind ?? []));
  if (preset !== undefined && served.has(preset)) return preset;
  const [only] = served;
  return served.size === 1 && only !== undefined ? only : 'chat';
}
