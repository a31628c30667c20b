// A page that is served looks now and then whether there is a newer one, and takes over what is new in it.

const EVERY = 2000;

function keepFresh() {
  const told = document.getElementById("live");
  if (!told || !data.version) return;
  const say = (words) => {
    const place = document.getElementById("live");
    if (place && place.textContent !== words) place.textContent = words;
  };
  let lost = false;
  const look = async () => {
    try {
      const answer = await fetch("state.json", { cache: "no-store" });
      if (!answer.ok) throw new Error(answer.statusText);
      const news = await answer.json();
      if (news.version !== data.version) await takeOver();
      say(
        news.done
          ? "Every run of this experiment has come to its end."
          : "Live: what is shown is as of the last checkpoint.",
      );
      lost = false;
    } catch {
      say(lost ? "The server cannot be reached; what is shown may be old." : "");
      lost = true;
    }
    setTimeout(look, EVERY);
  };
  look();
}

async function takeOver() {
  const answer = await fetch("", { cache: "no-store" });
  if (!answer.ok) throw new Error(answer.statusText);
  const newer = new DOMParser().parseFromString(await answer.text(), "text/html");
  const main = document.querySelector("main");
  const open = new Set([...main.querySelectorAll("details[open] > summary")].map((one) => one.textContent));
  const focus = document.activeElement && document.activeElement.id;
  const [left, top] = [scrollX, scrollY];
  const height = main.offsetHeight;
  main.style.minHeight = `${height}px`; // so that the place one reads at stays where it is
  main.replaceChildren(...document.adoptNode(newer.querySelector("main")).childNodes);
  main.querySelectorAll("details > summary").forEach((one) => {
    if (open.has(one.textContent)) one.parentElement.open = true;
  });
  document.title = newer.title;
  begin();
  main.style.minHeight = "";
  scrollTo(left, top);
  if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
}
