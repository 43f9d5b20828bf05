/** Pauses between attempts to connect: short at first, then longer. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5000;

/** Receives a stream of server-sent events. */
export interface StreamListener<Event> {
  /** Called on every connection; events before it are not replayed. */
  onOpen(): void;
  onLost(): void;
  onEvent(event: Event): void;
}

/** Listens, and reconnects when the connection is lost; the returned function ends that. */
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
