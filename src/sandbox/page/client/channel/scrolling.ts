import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { PageMessage } from '../../../slack/page-api.ts';

type Element = { readonly current: HTMLElement | null };

const NEAR_END_PX = 60;

/** A reader at the end of the list stays there; others see a note that there is something new. */
export function useEnd(list: Element, messages: readonly PageMessage[], me: string) {
  const isAtEnd = useRef(true);
  const newest = useRef<string>();
  const [hasNews, setNews] = useState(false);
  const toEnd = () => list.current?.scrollTo({ top: list.current.scrollHeight });
  useLayoutEffect(() => {
    // The user's own message, or an ephemeral answer to it, is scrolled into view.
    const last = messages.at(-1);
    const isNew = last?.ts !== newest.current;
    const isForMe = last?.user === me || last?.ephemeral === true;
    if (isAtEnd.current || (isForMe && isNew)) toEnd();
    else if (isNew) setNews(true);
    newest.current = last?.ts;
  }, [messages]);
  useEffect(() => {
    // A page of a table that is turned, a keyboard that comes up: heights change without any message.
    const sizes = new ResizeObserver(() => isAtEnd.current && toEnd());
    for (const each of [list.current, list.current?.firstElementChild]) if (each) sizes.observe(each);
    return () => sizes.disconnect();
  }, []);
  const scrolled = () => {
    if (!list.current) return;
    const { scrollTop, scrollHeight, clientHeight } = list.current;
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    if (isAtEnd.current) setNews(false);
  };
  return { hasNews, toEnd, scrolled };
}

/** So many messages are drawn at first. */
const DRAWN = 120;
/** Messages added each time: few enough for one frame, enough to stay ahead of scrolling. */
const DRAWN_MORE = 50;

/** How many messages are drawn: older ones before one has scrolled up to them; what is being read stays in place. */
export function useOlder(list: Element, older: Element): number {
  const [drawn, setDrawn] = useState(DRAWN);
  const heightBefore = useRef<number>();
  useLayoutEffect(() => {
    const { current } = list;
    // The browser keeps the scroll position, except at the very top.
    if (current?.scrollTop === 0 && heightBefore.current !== undefined)
      current.scrollTop = current.scrollHeight - heightBefore.current;
    heightBefore.current = undefined;
    const grow: IntersectionObserverCallback = ([entry]) => {
      if (!entry?.isIntersecting) return;
      heightBefore.current = list.current?.scrollHeight;
      setDrawn(drawn + DRAWN_MORE);
    };
    const seen = new IntersectionObserver(grow, { root: current, rootMargin: '800px 0px 0px' });
    if (older.current) seen.observe(older.current);
    return () => seen.disconnect();
  }, [list, older, drawn]);
  return drawn;
}
