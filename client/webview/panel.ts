// The panel's script: shows what the extension renders, and tells it what was clicked or chosen by keyboard.

interface Host {
  postMessage(message: unknown): void;
}
declare function acquireVsCodeApi(): Host;

/** From the extension: the content, already escaped. */
interface Render {
  readonly type: 'render';
  readonly markup: string;
}

const host = acquireVsCodeApi();
const main = document.querySelector('main')!;

window.addEventListener('message', (event: MessageEvent<Render>) => {
  if (event.data.type === 'render') render(event.data.markup);
});

/** Keeps the focus and the place in the page where an element of the same name is there again. */
function render(markup: string): void {
  const focused = document.activeElement?.id;
  const { scrollTop } = document.documentElement;
  main.innerHTML = markup;
  document.documentElement.scrollTop = scrollTop;
  const again = focused ? document.getElementById(focused) : null;
  if (again) focus(again);
}

const TARGETS = ['step', 'cut', 'carrier', 'action'] as const;

/** Tells the extension; whether there was something to tell. */
function choose(target: EventTarget | null): boolean {
  const element = (target as Element | null)?.closest<HTMLElement | SVGElement>(TARGETS.map((name) => `[data-${name}]`).join());
  if (!element) return false;
  for (const name of TARGETS) {
    const value = element.dataset[name];
    if (value !== undefined) host.postMessage({ type: name, value });
  }
  return true;
}

main.addEventListener('click', (event) => {
  if (choose(event.target)) event.preventDefault();
});

main.addEventListener('keydown', (event) => {
  const current = (event.target as Element | null)?.closest<SVGElement>('svg.picture [role=button]');
  if (!current) return;
  const all = [...main.querySelectorAll<SVGElement>('svg.picture [role=button]')];
  const index = all.indexOf(current);
  const next: Record<string, number> = {
    ArrowRight: index + 1,
    ArrowDown: index + 1,
    ArrowLeft: index - 1,
    ArrowUp: index - 1,
    Home: 0,
    End: all.length - 1,
  };
  if (event.key === 'Enter' || event.key === ' ') {
    choose(current);
  } else if (event.key in next) {
    const target = all[next[event.key]!];
    if (target) focus(target);
  } else {
    return;
  }
  event.preventDefault();
});

/** In the picture one element at a time is a stop of the tabulator. */
function focus(element: SVGElement | HTMLElement): void {
  if (element.closest('svg.picture')) {
    for (const each of main.querySelectorAll('svg.picture [role=button]')) each.setAttribute('tabindex', '-1');
    element.setAttribute('tabindex', '0');
  }
  element.focus();
}

host.postMessage({ type: 'ready' });

export {};
