/** Between tries to connect: the first is soon, a sandbox that stays away is not stormed. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5000;

/** What a stream of server-sent events tells. */
export interface StreamListener<Event> {
  /** On every connection: whatever happened before it must be read elsewhere. */
  onOpen(): void;
  onLost(): void;
  onEvent(event: Event): void;
}

/** Listens, and connects again when the connection is lost; the function given back ends that. */
export function stayConnected<Event>(
  url: string,
  types: readonly string[],
  { onOpen, onLost, onEvent }: StreamListener<Event>,
): () => void {
  let source: EventSource;
  let pauseMs = FIRST_PAUSE_MS;
  let timer: ReturnType<typeof setTimeout>;
  const connect = () => {
    source = new EventSource(url);
    source.addEventListener('open', () => {
      pauseMs = FIRST_PAUSE_MS;
      onOpen();
    });
    source.addEventListener('error', () => {
      source.close();
      timer = setTimeout(connect, pauseMs);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      onLost();
    });
    for (const type of types)
      source.addEventListener(type, (event) => onEvent(JSON.parse((event as MessageEvent<string>).data)));
  };
  connect();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
