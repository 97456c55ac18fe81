import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { isEventStream, looksLikeEvents } from './content-type.ts';
import { type UpstreamResponse, type ResponseBody, getContentType } from './contract.ts';
import { canDecode, DecodedBody } from './decoded-body.ts';
import { type Fault, createRouteFault } from './fault.ts';
import { StreamBody } from './stream-body.ts';
import { RefusalBody, WholeBody } from './whole-body.ts';

/** @throws Fault if the body cannot be decoded */
export function openBody(response: UpstreamResponse): ResponseBody {
  const contentCoding = String(response.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (contentCoding === 'identity' || contentCoding === '') return openDecodedBody(response);
  if (canDecode(contentCoding)) return new DecodedBody(response, contentCoding, openDecodedBody);
  if (response.status >= 300) return new RefusalBody(response);
  throw createRouteFault('upstream_failed', upstreamReason('upstream.reason.encoding'));
}

function openDecodedBody(response: UpstreamResponse): ResponseBody {
  if (response.status >= 300) return new RefusalBody(response);
  if (response.reader.isBytes?.(getContentType(response)) === true)
    return new StreamBody(response, getContentType(response));
  return isEventStream(getContentType(response)) ? openLabelledBody(response, true) : new UnlabelledBody(response);
}

function openLabelledBody(response: UpstreamResponse, isStream: boolean): ResponseBody {
  // Some vendors send a stream where none was requested, or a complete body where a stream was.
  return isStream && response.request.isStream ? new StreamBody(response) : new WholeBody(response, isStream);
}

/** A body whose content type does not say whether it is a stream. The first bytes decide. */
class UnlabelledBody implements ResponseBody {
  readonly #response: UpstreamResponse;
  readonly #received = new CollectedBytes();
  #innerBody: ResponseBody | undefined;

  constructor(response: UpstreamResponse) {
    this.#response = response;
  }

  receive(chunk: Buffer): void {
    if (this.#innerBody !== undefined) return this.#innerBody.receive(chunk);
    this.#received.add(chunk);
    const isStream = looksLikeEvents(this.#received.join());
    if (isStream !== undefined) this.#openInner(isStream);
  }

  end(): void {
    (this.#innerBody ?? this.#openInner(false)).end();
  }

  expire(timeout: Fault): void {
    if (this.#innerBody === undefined) this.#response.end(timeout);
    else this.#innerBody.expire(timeout);
  }

  disconnect(fault: Fault): void {
    if (this.#innerBody?.disconnect === undefined) this.#response.end(fault);
    else this.#innerBody.disconnect(fault);
  }

  close(fault: Fault | undefined): void {
    this.#innerBody?.close?.(fault);
  }

  #openInner(isStream: boolean): ResponseBody {
    this.#innerBody = openLabelledBody(this.#response, isStream);
    this.#innerBody.receive(this.#received.take());
    return this.#innerBody;
  }
}
