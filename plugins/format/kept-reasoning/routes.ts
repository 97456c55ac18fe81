import type { Model, Route } from '#core/catalog/catalog.ts';
import { profileIn } from '#core/catalog/profile.ts';
import { GatewayError } from '#core/errors/table.ts';
import { wantsReasoning } from '../canonical/replayed-reasoning.ts';
import { isTextFormat, type TextFormat } from '../descriptor.ts';
import type { ClientRequest } from '../request/client-request.ts';
import { upstreamFormat } from '../translation/upstream-format.ts';

/** What routes of a model take back of earlier turns. */
export interface ReplayingRoutes {
  /** Opaque reasoning state. */
  readonly withState: boolean;
  /** The text of the reasoning. */
  readonly withText: boolean;
}

/** True when a route takes the text of earlier reasoning, in this format. */
export function takesReasoningText({ name, text }: TextFormat, { profile }: Route): boolean {
  return text.speaks.reasoning === 'text' || wantsReasoning(profileIn(name, profile), true);
}

export function routesWith({ routes }: Model, request: ClientRequest): ReplayingRoutes {
  const asked = routes.flatMap((route) => {
    const format = findFormat(route, request);
    return format === undefined ? [] : [{ route, format }];
  });
  return {
    withState: asked.some(({ format }) => format.text.stateKinds.length > 0),
    withText: asked.some(({ format, route }) => takesReasoningText(format, route)),
  };
}

/** Undefined for a route that cannot serve the request. */
function findFormat(route: Route, request: ClientRequest): TextFormat | undefined {
  try {
    const format = upstreamFormat(route, request);
    return isTextFormat(format) ? format : undefined;
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}
