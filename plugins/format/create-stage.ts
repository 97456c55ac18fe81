import { getEndUserIds } from '#core/business/accounts/end-user-id.ts';
import { nameInReply } from '#core/config/catalog/model-name.ts';
import { adapter, trialModel } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { defineFact } from '#core/gateway/pipeline/fact.ts';
import { renderError } from '#core/gateway/pipeline/render-error.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import type { Stage } from '#core/gateway/pipeline/stage.ts';
import { nextTurn } from '#core/platform/timing/turn.ts';
import { checkParameters } from './formats/contract/parameters.ts';
import { findClientCall } from './formats/formats.ts';
import { asJsonArray } from './formats/gemini/reply/json-array.ts';
import { type ClientRequest, readClientRequest, findModel } from './request/client-request.ts';
import { respondWithTokenEstimate } from './request/count-tokens.ts';
import { respondToUnavailableTools, addModelName } from './request/hosted-tools.ts';
import { prepareBodyForCheck, createThreadNotFoundError } from './request/thread.ts';
import { requireKind } from './request/upstream-format.ts';
import { isPassedToAllRoutes, openCall, openLongCall } from './routes/model-call.ts';
import { isUpload, openUpload } from './routes/upload/open-upload.ts';
import { ResponsesStore, storedCall } from './state/responses-store/store.ts';
import { ReasoningStore } from './state/stored-reasoning/store.ts';
import { ThreadStore } from './state/threads.ts';

const routedCountRequest = defineFact<ClientRequest>('count_request');

function estimateIfFailed(exchange: Exchange, reply: Reply): Reply {
  const request = exchange.find(routedCountRequest);
  const isFailed = reply.status === 404 || reply.status >= 500;
  // Trials get the failure, because they test whether the route can count.
  const isTrial = exchange.find(trialModel) !== undefined;
  if (request === undefined || !isFailed || isTrial || exchange.isAborted) return reply;
  return respondWithTokenEstimate(request);
}

const hasThreadBackups = defineFact<boolean>('has_backups');

function restartThreadIfFailed(exchange: Exchange, reply: Reply): Reply {
  const isFailed = reply.status === 424 || reply.status === 429 || reply.status >= 500;
  if (!isFailed || exchange.find(hasThreadBackups) !== true || exchange.isAborted) return reply;
  return renderError(createThreadNotFoundError(), exchange);
}

/** Commands that do not serve requests never load this module. `retentionHours`: how long the reasoning before tool calls is kept. */
export function createFormatStage(retentionHours: number, host: Host): Stage {
  const responses = new ResponsesStore(host);
  const reasoning = new ReasoningStore(host, retentionHours);
  const threads = new ThreadStore(host);
  const endUsers = getEndUserIds(host);
  return {
    // The stage only waits for the request body, the database and the shared state, all of which have deadlines.
    timeout: Infinity,
    keepsContent: true,
    leave: (exchange, reply) =>
      responses.leave(
        exchange,
        asJsonArray(exchange, restartThreadIfFailed(exchange, estimateIfFailed(exchange, reply))),
      ),
    async enter(exchange) {
      const clientCall = findClientCall(exchange.endpoint);
      if (clientCall === undefined) return;
      if (isUpload(exchange, clientCall)) {
        return exchange.set(adapter, await openUpload(host, exchange, clientCall));
      }
      const { format, endpoint } = clientCall;
      const clientRequest = await readClientRequest(exchange, format, endpoint);
      // Awaited only if there is work, because each `await` creates two promises.
      const resolving = responses.enter(exchange, clientRequest);
      const resolvedRequest = resolving instanceof Promise ? await resolving : resolving;
      const model = exchange.find(trialModel) ?? findModel(host, resolvedRequest.model);
      requireKind(model, resolvedRequest.model, format);
      const request = resolvedRequest.with({ model: nameInReply(model, resolvedRequest.model) });
      const { content } = request;
      const { isLong } = content;
      if (isLong) await nextTurn();
      checkParameters(prepareBodyForCheck(request.outline), format.client.parameters, endpoint.required);
      if (content.bodyOutline !== undefined && !isPassedToAllRoutes(model, request)) await content.load(exchange.body);
      const openingThread = threads.open(exchange, request, model);
      const threaded = openingThread instanceof Promise ? await openingThread : openingThread;
      const restoring = reasoning.attachReasoning(exchange, threaded, model);
      const requestWithReasoning = restoring instanceof Promise ? await restoring : restoring;
      const findingUser = endUsers.computeId(exchange, model);
      const endUser = findingUser instanceof Promise ? await findingUser : findingUser;
      const requestWithUser = endUser === undefined ? requestWithReasoning : requestWithReasoning.with({ endUser });
      const call = isLong
        ? await openLongCall(exchange, model, requestWithUser)
        : openCall(exchange, model, requestWithUser);
      const { refusal } = call;
      if (refusal !== undefined && request.purpose === 'count') return respondWithTokenEstimate(request);
      if (refusal !== undefined) {
        const reply = respondToUnavailableTools(exchange, request, refusal);
        if (reply === undefined) throw addModelName(refusal, request.model);
        return reply;
      }
      if (request.purpose === 'count') exchange.set(routedCountRequest, request);
      if (threaded.thread?.origin !== undefined && model.routes.length > 1) exchange.set(hasThreadBackups, true);
      exchange.set(storedCall, call);
      exchange.set(adapter, call);
      const detaching = responses.detach(exchange, request, call);
      if (detaching !== undefined) await detaching;
    },
  };
}
