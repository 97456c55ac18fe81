import type { Model, Route } from '#core/config/catalog/catalog.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { requiresReasoning } from '../../canonical/reasoning.ts';
import { isTextFormat, type TextFormat } from '../../formats/contract/descriptor.ts';
import type { ClientRequest } from '../../request/client-request.ts';
import { selectUpstreamFormat } from '../../request/upstream-format.ts';

interface ReasoningToStore {
  readonly includesState: boolean; // opaque reasoning state
  readonly includesText: boolean;
}

export function acceptsReasoningText({ name, text }: TextFormat, { profile }: Route): boolean {
  return text.features.reasoning === 'text' || requiresReasoning(profileIn(name, profile), true);
}

/** Finds the kinds of reasoning that a model's routes accept in later requests but that the client does not send back. */
export function findReasoningToStore({ routes }: Model, request: ClientRequest): ReasoningToStore {
  const candidates = routes.flatMap((route) => {
    const format = findUsableFormat(route, request);
    // Clients that ask for reasoning send it back if the route uses their format. Chat clients get it unasked, and most drop it.
    const isReturnedByClient = format === request.format && request.format.client.text?.hidesReasoning !== undefined;
    return format === undefined || isReturnedByClient ? [] : [{ route, format }];
  });
  return {
    includesState: candidates.some(({ format }) => format.text.stateKinds.length > 0),
    includesText: candidates.some(({ format, route }) => acceptsReasoningText(format, route)),
  };
}

function findUsableFormat(route: Route, request: ClientRequest): TextFormat | undefined {
  try {
    const format = selectUpstreamFormat(route, request);
    return isTextFormat(format) ? format : undefined;
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}
