/**
 * Returns an element of the page by its id.
 *
 * @throws Error where the page has none, or one of another kind: page and script do not belong together.
 */
export function element<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.querySelector(`#${id}`);
  if (!(found instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`);
  return found;
}
